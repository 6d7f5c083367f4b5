"""Plant each change in a copy of the project and run its tests, one of which must fail: ``make mutants``."""

import argparse
import importlib
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

from tests.mutants.planted import MUTANTS, Mutant

ROOT = Path(__file__).parents[2]
LIBRARIES = ("beartype", "pandas", "pytest", "sklearn.cluster", "torch")  # imported once for all processes
VERDICTS = {
    0: "survived",
    1: "killed",
}  # by the exit status of pytest; any other one is a mistake in the list


def left_out(folder: str, names: list[str]) -> set[str]:
    """What a copy of the project does not need."""
    found = {name for name in names if name.startswith(".") or name in ("__pycache__", "_build")}
    return found | ({"results"} if Path(folder) == ROOT else set())


def fork_tests(copy: Path, tests: tuple[str, ...]) -> int:
    """Run tests in a copy of the project until one fails, in a process of its own; its number."""
    if (number := os.fork()) != 0:
        return number
    status = 3
    try:
        os.chdir(copy)
        # Bytecode of a file that is changed twice within a second would be taken for that of the new text.
        sys.dont_write_bytecode = True
        os.environ |= {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}
        sys.path.insert(0, str(copy))
        for name in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
            del sys.modules[name]  # those of the project itself
        for stream in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
        import pytest

        status = int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", *tests]))
    finally:
        os._exit(status)


class Field:
    """The copies in which changes are planted, and what was planted where."""

    def __init__(self, holder: Path, n_copies: int) -> None:
        self.free = [Path(shutil.copytree(ROOT, holder / str(i), ignore=left_out)) for i in range(n_copies)]
        self.planted: dict[int, tuple[Mutant, Path, str, float]] = {}

    def plant(self, mutant: Mutant) -> None:
        """Change a file of a free copy, and start the tests there."""
        copy = self.free.pop()
        file = copy / "dekm" / mutant.file
        text = file.read_text(encoding="utf-8")
        file.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
        self.planted[fork_tests(copy, mutant.tests)] = mutant, copy, text, time.perf_counter()

    def harvest(self) -> str:
        """Wait until the tests of one change end, undo it, and tell what has become of it."""
        number, status = os.wait()
        mutant, copy, text, started = self.planted.pop(number)
        (copy / "dekm" / mutant.file).write_text(text, encoding="utf-8")
        self.free.append(copy)
        code = os.waitstatus_to_exitcode(status)
        verdict = VERDICTS.get(code, f"pytest ended with {code}")
        if not mutant.old:
            verdict = {"survived": "passed", "killed": "failed"}.get(verdict, verdict)
        change = f"{mutant.file}: {mutant.old.strip()!r} -> {mutant.new.strip()!r}" if mutant.old else ""
        print(
            f"{verdict:9} {time.perf_counter() - started:4.0f} s  {change or ' '.join(mutant.tests)}",
            flush=True,
        )
        return verdict


def main() -> int:
    """Try all mutants, or those of files whose names contain a text; exit status 1 if one survives."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("name", nargs="?", default="", help="part of the names of the files")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="how many run at once")
    options = parser.parse_args()
    mutants = [mutant for mutant in MUTANTS if options.name in mutant.file]
    # First the tests without a change, which must pass.
    unchanged = {mutant.tests: mutant._replace(old="", new="") for mutant in mutants}
    waiting = [*reversed(mutants), *unchanged.values()]
    verdicts = []
    for library in LIBRARIES:
        importlib.import_module(library)
    with tempfile.TemporaryDirectory() as holder:
        field = Field(Path(holder), options.processes)
        while waiting or field.planted:
            if waiting and field.free:
                field.plant(waiting.pop())
            else:
                verdicts.append(field.harvest())
    counts = {verdict: verdicts.count(verdict) for verdict in sorted(set(verdicts))}
    print(", ".join(f"{number} {verdict}" for verdict, number in counts.items()))
    return int(counts != {"killed": len(mutants), "passed": len(unchanged)})


if __name__ == "__main__":
    sys.exit(main())
