"""Processes that do not see each other: in two PID namespaces, as in two containers with one host name."""

import subprocess
import sys
from pathlib import Path

import pytest

UNSHARE = ["unshare", "--user", "--map-root-user", "--pid", "--fork"]
WRITES = 50
WRITER = """
import sys
from pathlib import Path
from dekm.files import atomic_folder, write_text
file, folder = Path(sys.argv[1], "facts.json"), Path(sys.argv[1], "seed0")
print("started", flush=True)
sys.stdin.readline()
for _ in range(int(sys.argv[2])):
    write_text(file, "text" * 1000)
    with atomic_folder(folder) as part:
        write_text(part / "a.txt", "text" * 1000)
"""


def start(folder: Path) -> subprocess.Popen:
    command = [*UNSHARE, sys.executable, "-c", WRITER, str(folder), str(WRITES)]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def test_writers_in_two_pid_namespaces_leave_each_other_alone(tmp_path: Path) -> None:
    if subprocess.run([*UNSHARE, "true"], capture_output=True).returncode:
        pytest.skip("a PID namespace may not be made here")
    writers = [start(tmp_path), start(tmp_path)]
    for writer in writers:
        assert writer.stdout.readline() == "started\n"
    for writer in writers:
        writer.stdin.write("go\n")
        writer.stdin.flush()
    ends = [writer.communicate()[1] for writer in writers]
    assert ends == ["", ""]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["facts.json", "seed0"]
    assert (tmp_path / "seed0/a.txt").read_text() == "text" * 1000
