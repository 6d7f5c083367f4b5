"""A Slurm of two nodes with a GPU each, all of it on this machine.

The daemons and what talks to them live in a mount namespace of their own, in which /etc/slurm is that of the
test: jobs of Snakemake's plugin find the configuration nowhere else.
"""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "nsenter", "unshare")
NODES = ("n1", "n2")
CONFIGURATION = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
TaskProlog={folder}/prolog
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=1
JobAcctGatherParams=OverMemoryKill
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SlurmdParameters=config_overrides
AccountingStorageType=accounting_storage/none
SchedulerParameters=sched_interval=1,bf_interval=1
KillWait=2
SlurmdTimeout=15
MpiDefault=none
SwitchType=switch/none
ReturnToService=2
MinJobAge=300
GresTypes=gpu
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={first} CPUs=4 RealMemory=16000 Gres=gpu:1
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={second} CPUs=4 RealMemory=16000 Gres=gpu:1
PartitionName=all Nodes=n1,n2 Default=YES MaxTime=12:00:00 State=UP
"""
PROLOG = """#!/bin/sh
name=$(scontrol show job -o $SLURM_JOB_ID | grep -o 'Comment=[^ ]*')
echo "${{SLURM_STEP_ID:-batch}} $name $SLURMD_NODENAME ${{CUDA_VISIBLE_DEVICES-none}}" >> {folder}/started
"""
START = """
mount --bind {folder}/etc /etc/slurm
munged --force --key-file={folder}/munge/key --socket={folder}/munge/socket --pid-file={folder}/munged.pid \
    --seed-file={folder}/munge/seed --log-file={folder}/munge/log
slurmctld
slurmd -N n1
slurmd -N n2
exec sleep infinity
"""


def missing() -> str:
    """Why no Slurm can be started here; empty if one can."""
    absent = [program for program in PROGRAMS if shutil.which(program) is None]
    if absent:
        return f"{', '.join(absent)} not installed"
    if os.getuid() != 0 or subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode:
        return "mount namespaces are for root"
    return ""


class Slurm:
    """A running Slurm."""

    def __init__(self, folder: Path, keeper: subprocess.Popen) -> None:
        self.folder = folder
        self.keeper = keeper  # of the namespace

    def command(self, *command: str, directory: Path = Path("/")) -> list[str]:
        """A command that talks to this Slurm."""
        return ["nsenter", "-m", "-t", str(self.keeper.pid), f"--wd={directory}", *command]

    def ask(self, *command: str) -> str:
        """What a command prints."""
        done = subprocess.run(self.command(*command), capture_output=True, text=True, check=True)
        return done.stdout

    def jobs(self, state: str = "R") -> dict[str, str]:
        """The nodes of the jobs in a state, by their ids; empty for a job that waits."""
        lines = self.ask("squeue", "-h", "-t", state, "-o", "%i %N").splitlines()
        return {job: node for job, _, node in (line.partition(" ") for line in lines)}

    def job_of(self, subject: str) -> str:
        """The running job whose comment, which Snakemake writes, ends with a subject."""
        lines = self.ask("squeue", "-h", "-t", "R", "-o", "%i %k").splitlines()
        return next(line.split()[0] for line in lines if line.endswith(subject))

    def started(self) -> list[list[str]]:
        """Step, comment, node and visible GPUs of every step that a job has started."""
        file = self.folder / "started"
        return [line.split() for line in file.read_text().splitlines()] if file.exists() else []

    def kill_node(self, name: str) -> None:
        """End a node as a power failure does: its daemon and all that its jobs run."""
        jobs = [job for job, node in self.jobs().items() if node == name]
        daemon = self.folder / f"slurmd.{name}.pid"
        pids = [int(daemon.read_text()), *processes(jobs)]
        daemon.unlink()
        for number in (signal.SIGSTOP, signal.SIGKILL):  # so that none can tell of the end of another
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, number)

    def stop(self) -> None:
        """End all jobs, then the daemons."""
        with contextlib.suppress(subprocess.SubprocessError, AssertionError):
            self.ask("scancel", "--user=root")
            wait(lambda: not self.ask("squeue", "-h"), 30, self.folder)
        pids = [int(file.read_text()) for file in self.folder.glob("*.pid")]
        for number in (signal.SIGTERM, signal.SIGKILL):
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, number)
            time.sleep(1)
        self.keeper.kill()
        self.keeper.wait()


def processes(jobs: Sequence[str]) -> Iterator[int]:
    """The processes of jobs, and those of Slurm that watch them."""
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            title, environ = (folder / "cmdline").read_bytes(), (folder / "environ").read_bytes().split(b"\0")
            if any(
                title.startswith(f"slurmstepd: [{job}.".encode()) or f"SLURM_JOB_ID={job}".encode() in environ
                for job in jobs
            ):
                yield int(folder.name)


def free_ports(n: int) -> Sequence[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(n)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def write_files(folder: Path) -> None:
    for name in ("etc", "state", "spool", "munge", "dev"):
        (folder / name).mkdir(parents=True)
    (folder / "munge").chmod(0o700)
    (folder / "munge/key").write_bytes(os.urandom(128))
    (folder / "munge/key").chmod(0o400)
    port, first, second = free_ports(3)
    fields = {"folder": folder, "host": socket.gethostname().partition(".")[0]}
    fields |= {"port": port, "first": first, "second": second}
    (folder / "etc/slurm.conf").write_text(CONFIGURATION.format(**fields))
    gres = []
    for i, node in enumerate(NODES):
        os.mknod(folder / f"dev/gpu{i}", 0o20666, os.makedev(1, 3))  # a count without files is refused
        gres.append(f"NodeName={node} Name=gpu File={folder}/dev/gpu{i}\n")
    (folder / "etc/gres.conf").write_text("".join(gres))
    (folder / "etc/cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
    (folder / "prolog").write_text(PROLOG.format(folder=folder))
    (folder / "prolog").chmod(0o755)


@contextlib.contextmanager
def running(folder: Path) -> Iterator[Slurm]:
    """Start a Slurm, and end it after the block."""
    write_files(folder)
    script = "set -e\n" + START.format(folder=folder)
    with (folder / "start.log").open("w") as log:
        keeper = subprocess.Popen(
            ["unshare", "-m", "--propagation", "private", "bash", "-c", script], stdout=log, stderr=log
        )
    slurm = Slurm(folder, keeper)
    try:
        wait(lambda: len(slurm.ask("sinfo", "-h", "-N", "-t", "idle").splitlines()) == len(NODES), 60, folder)
        yield slurm
    finally:
        slurm.stop()


def wait(condition, seconds: float, folder: Path) -> None:
    """Wait until a condition is true, in which commands may fail."""
    deadline = time.monotonic() + seconds
    while True:
        with contextlib.suppress(subprocess.SubprocessError):
            if condition():
                return
        assert time.monotonic() < deadline, "\n".join(
            f"{file}:\n{file.read_text()[-3000:]}" for file in sorted(folder.glob("*.log"))
        )
        time.sleep(0.5)
