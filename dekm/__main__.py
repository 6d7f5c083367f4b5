"""``python -m dekm``."""

import sys

from dekm.cli import main

sys.exit(main(prog="python -m dekm"))
