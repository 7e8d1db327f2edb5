"""The script that agents' settings name: python -I -S hook_entry.py AGENT [EVENT].

It stays this small because a script is compiled on every start, and modules are not.
"""

import sys

sys.path.append(__file__.replace("\\", "/").rsplit("/", 3)[0])

from sightline.hooks.client import main

if __name__ == "__main__":
    main(sys.argv[1:])
