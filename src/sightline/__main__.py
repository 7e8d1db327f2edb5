"""python -m sightline: the command, where its script is not on PATH."""

import sys

from sightline.interfaces.entry import main

sys.exit(main())
