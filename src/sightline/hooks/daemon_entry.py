"""The script that a hook starts: python -I -S daemon_entry.py DESCRIPTOR LOCK ROOT SESSION HOST."""

import site
import sys

sys.path.append(__file__.replace("\\", "/").rsplit("/", 3)[0])
site.main()  # -S has left third-party packages off the path

from sightline.hooks.daemon import main  # noqa: E402 - the path comes first

if __name__ == "__main__":
    main(sys.argv[1:])
