"""Try many more faults than the tests do, and print for each part how many were tried and what failed.

``python tests/faults/campaign.py --full`` runs for about an hour; without ``--full``, as much as the tests.
"""

import argparse
import importlib
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))
os.environ["PYTHONPATH"] = str(ROOT)

from tests.faults import damage, kills, limits, servers  # noqa: E402
from tests.faults.material import Report, make_results, working_directory  # noqa: E402

Part = Callable[[], Report]


def parts(pristine: Path, folder: Path, scale: int, seed: int) -> Iterator[tuple[str, Part]]:
    """The parts of the campaign by name; `scale` multiplies their sizes."""
    names = ("jobs", "syncs", "files", "disks", "sizes", "deny", "memory", "net")
    place = {name: folder / name for name in names}
    for path in place.values():
        path.mkdir()
    steps = [0, 4, 8, 16, 32, 64, 128, 256] if scale > 1 else [0, 12]
    sizes = [0, 100, 1000, 3000, 10_000, 30_000, 100_000, 300_000] if scale > 1 else [3000]
    yield "kills", lambda: kills.kill_jobs(pristine, place["jobs"], 10 * scale, seed)
    yield "store", lambda: kills.kill_syncs(pristine, place["syncs"], 3 * scale, seed)
    yield "files", lambda: damage.damage_files(pristine, place["files"], 200 * scale, seed, slow=0.3)
    yield "disks", lambda: limits.fill_disks(pristine, place["disks"], steps)
    yield "sizes", lambda: limits.limit_files(pristine, place["sizes"], sizes)
    yield "permissions", lambda: limits.deny(pristine, place["deny"])
    if scale > 1:
        memory = [1, 10, 50, 100, 200, 400]
        yield "memory", lambda: limits.limit_memory(pristine, place["memory"], memory)
    yield "servers", lambda: servers.download_all(place["net"], 1.0)
    if (ROOT / "tests" / "faults" / "campaign_inputs.py").exists():
        inputs = importlib.import_module("tests.faults.campaign_inputs")
        yield from inputs.parts(folder, scale, seed)


def main() -> int:
    """Run the campaign."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="run for about an hour")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="of the random choices")
    parser.add_argument("--only", nargs="*", help="names of parts")
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}", flush=True)
    failed = 0
    with tempfile.TemporaryDirectory() as name, working_directory(Path(name)):
        pristine = make_results(Path(name) / "tiny")
        for part, run in parts(pristine, Path(name), 20 if arguments.full else 1, arguments.seed):
            if not arguments.only or part in arguments.only:
                begin, cpu = time.monotonic(), time.process_time()
                report = run()
                seconds = f"{time.monotonic() - begin:.0f} s, {time.process_time() - cpu:.0f} s of CPU"
                print(f"{report}  [{seconds}]", flush=True)
                failed += len(report.failed)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
