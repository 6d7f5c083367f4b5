from pathlib import Path

from tests.faults.kills import kill_jobs


def test_a_killed_job_loses_nothing(pristine: Path, tmp_path: Path) -> None:
    report = kill_jobs(pristine, tmp_path, 5, 0)
    assert not report.failed, report
