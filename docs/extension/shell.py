"""The shell of the pages of the gallery: commands in a temporary folder, printed with their output."""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import mkdtemp

PROJECT = Path(__file__).parents[2]
SNAKEMAKE = ["--snakefile", str(PROJECT / "Snakefile"), "--workflow-profile", "none"]
QUIET = ["--cores", "2", "--quiet", "all"]


class Shell:
    """Runs commands in a new folder, which is also that of this process."""

    def __init__(self) -> None:
        self.start, self.folder = Path.cwd(), Path(mkdtemp())
        self.enter()

    def __call__(self, command: str) -> None:
        """Run a command, and print it with its output; of the preparation of data also its log."""
        program, *arguments = shlex.split(command)
        call = {
            "python": [sys.executable, *arguments],
            "snakemake": [sys.executable, "-m", "snakemake", *arguments, *SNAKEMAKE, *QUIET],
        }.get(program, [program, *arguments])
        environment = os.environ | {"PYTHONPATH": str(PROJECT), "COLUMNS": "100"}
        done = subprocess.run(call, cwd=self.folder, env=environment, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr or done.stdout)
        sys.stdout.write(f"$ {command}\n{done.stdout}{done.stderr if 'prepare' in command else ''}\n")

    def enter(self) -> None:
        """Change to the folder again, which the gallery leaves between two blocks of a page."""
        os.chdir(self.folder)

    def close(self) -> None:
        """Leave and remove the folder."""
        os.chdir(self.start)
        shutil.rmtree(self.folder)
