"""Install the project and the versions of requirements.txt into .venv: what `make` runs at first.

One line shows how far it is and how much has been fetched, and one line says what is missing. A PyTorch that
is in .venv already is kept if the project accepts its version. It needs no other package.
"""

import re
import shutil
import subprocess
import sys
import time
import tomllib
import venv
from collections.abc import Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".venv"
PYTHON = FOLDER / "bin" / "python"
GIGABYTES = 6  # with PyTorch for NVIDIA GPUs, as on PyPI
UNITS = {"bytes": 1e-6, "kB": 1e-3, "MB": 1.0, "GB": 1e3}
DOWNLOAD = re.compile(r"Downloading (\S+?)(?:-[0-9]\S*)? \(([0-9.]+) (bytes|kB|MB|GB)\)")
SECONDS_BETWEEN_LINES = 15  # on a pipe
PIP = ("-m", "pip", "install", "--disable-pip-version-check", "--progress-bar", "off")
RESOLVES_NOT = "requirements.txt does not resolve on this platform or with this Python"
NO_NETWORK = "The packages could not be fetched"
NO_COMPILER = "A package is compiled: a C compiler and Python's headers (gcc, python3-dev) are needed"
REASONS = {  # what pip prints, and what it means
    "No space left on device": "The disk is full, the one of .venv or that of temporary files",
    "No matching distribution found": RESOLVES_NOT,
    "Could not find a version": RESOLVES_NOT,
    "ResolutionImpossible": RESOLVES_NOT,
    "gcc' failed": NO_COMPILER,
    "Failed building wheel": NO_COMPILER,
    "Connection": NO_NETWORK,
}


class InstallError(Exception):
    """What is missing, in one line."""


class Progress:
    """The line that shows how far pip is."""

    def __init__(self, n_packages: int) -> None:
        self.n_packages = n_packages
        self.n_found, self.megabytes, self.latest = 0, 0.0, ""
        self.started, self.shown = time.monotonic(), 0.0

    def read(self, line: str) -> None:
        """Take account of a line of pip."""
        if line.startswith("Collecting "):
            self.n_found += 1
        elif found := DOWNLOAD.search(line):
            self.latest = f"fetching {found[1]}, {found[2]} {found[3]}"
            self.megabytes += float(found[2]) * UNITS[found[3]]
        elif line.startswith("Installing collected packages"):
            self.latest = "all are fetched and are being unpacked"
        else:
            return
        self.show()

    def describe(self) -> str:
        """How far it is, such as "  12 of 177 packages, 35 MB; fetching numpy, 16.9 MB"."""
        found = (
            f"  {min(self.n_found, self.n_packages)} of {self.n_packages} packages, {self.megabytes:.0f} MB"
        )
        return f"{found}; {self.latest}" if self.latest else found

    def show(self) -> None:
        """Show it: in place on a terminal, and now and then on a pipe."""
        now = time.monotonic() - self.started
        if sys.stdout.isatty():
            width = shutil.get_terminal_size().columns - 1
            print(f"\r{self.describe()[:width]:{width}}", end="", flush=True)
        elif now - self.shown > SECONDS_BETWEEN_LINES:
            self.shown = now
            print(self.describe(), flush=True)


def main() -> None:
    """Install, or exit with one line."""
    try:
        torch = installed_torch()
        if not torch:
            check_disk(shutil.disk_usage(ROOT).free)
        print(
            f"Installing into .venv, once; this takes a few minutes and up to {GIGABYTES} GB of disk.",
            flush=True,
        )
        make_environment()
        requirements = (ROOT / "requirements.txt").read_text(encoding="utf-8").split()
        requirements = without_kept_torch(requirements, torch)
        install(requirements, Progress(len(requirements)))
        install(["--no-deps", "--no-build-isolation", "-e", str(ROOT)])
    except (InstallError, OSError) as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit("Interrupted; the same command continues.")


def check_disk(free: int) -> None:
    """Refuse a disk that is too small."""
    if free < GIGABYTES * 1e9:
        raise InstallError(
            f"The installation needs {GIGABYTES} GB of disk; {free / 1e9:.1f} GB are free in {ROOT}."
        )


def make_environment() -> None:
    """Create .venv, or add what it lacks: pip, or the Python that its link names."""
    try:
        if not PYTHON.exists():
            venv.create(FOLDER, clear=PYTHON.is_symlink(), symlinks=True)
        if subprocess.run([PYTHON, "-c", "import pip"], capture_output=True).returncode:
            command = [PYTHON, "-I", "-m", "ensurepip", "--default-pip"]
            subprocess.run(command, check=True, capture_output=True)
    except subprocess.CalledProcessError as error:
        raise InstallError(f"{sys.executable} cannot make .venv; on Debian, install python3-venv.") from error
    except (OSError, ValueError) as error:
        raise InstallError(f"{FOLDER} cannot be made: {error}") from error


def installed_torch() -> str:
    """Version of PyTorch in .venv; empty if it has none."""
    if not PYTHON.exists():
        return ""
    code = "from importlib.metadata import version; print(version('torch'))"
    done = subprocess.run([PYTHON, "-c", code], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else ""


def without_kept_torch(requirements: Sequence[str], installed: str) -> list[str]:
    """The requirements without PyTorch, if the installed version is within the bounds of the project."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (bound,) = (line for line in project["dependencies"] if line.startswith("torch>="))
    if not installed or numbers(installed) < numbers(bound):
        return list(requirements)
    print(f"PyTorch {installed} is kept.", flush=True)
    return [line for line in requirements if not line.startswith("torch==")]


def numbers(version: str) -> tuple[int, ...]:
    """The first two numbers in a version."""
    return tuple(map(int, re.findall(r"\d+", version)[:2]))


def install(arguments: Sequence[str], progress: Progress | None = None) -> None:
    """Run pip, and show how far it is."""
    command = [PYTHON, *PIP, *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as pip:
        assert pip.stdout is not None
        lines = []
        for line in pip.stdout:
            lines.append(line.rstrip())
            if progress:
                progress.read(line)
    if progress and sys.stdout.isatty():
        print()
    if pip.returncode:
        raise InstallError(explain(lines))


def explain(lines: Iterable[str]) -> str:
    """What the output of a pip that failed means."""
    lines = [line.strip() for line in lines if line.strip()]
    errors = [line for line in lines if re.match("(ERROR|error):?", line) and line != "ERROR: Exception:"]
    broken = [line.partition("connection broken by ")[2] for line in lines if "connection broken by" in line]
    if broken and any("(from versions: none)" in line for line in errors):  # no index was reached
        return f"{NO_NETWORK}: {broken[-1]}"
    for text, reason in REASONS.items():
        for line in errors:
            if text in line:
                return f"{reason}: {line}"
    return f"pip failed: {[*lines[-1:], *errors][-1] if lines else 'it printed nothing'}"


if __name__ == "__main__":
    main()
