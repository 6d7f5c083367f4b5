from pathlib import Path

from tests.faults.kills import kill_syncs


def test_a_kill_while_the_store_is_made_loses_nothing(pristine: Path, tmp_path: Path) -> None:
    report = kill_syncs(pristine, tmp_path, 2, 0)
    assert not report.failed, report
