"""The script that a hook starts: python -I -S answerer_entry.py DESCRIPTOR PLACE ROOT SESSION HOST."""

import sys

sys.path.append(__file__.replace("\\", "/").rsplit("/", 3)[0])

from sightline.hooks.client import package_folders

sys.path.extend(package_folders())

from sightline.hooks.daemon import main

if __name__ == "__main__":
    main(sys.argv[1:])
