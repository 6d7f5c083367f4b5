from pathlib import Path

import pytest

from tests.faults.damage import damage_files


@pytest.mark.usefixtures("copied_databases")
def test_a_damaged_file_is_one_line_and_made_again(pristine: Path, tmp_path: Path) -> None:
    report = damage_files(pristine, tmp_path, 80, seed=0, slow=0.02)
    assert not report.failed, report
