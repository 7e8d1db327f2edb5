"""python -m sightline: the command, where its script is not on PATH."""

import sys

from sightline.cli.entry import main

sys.exit(main())
