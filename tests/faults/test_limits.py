from pathlib import Path

import pytest

from tests.faults.limits import deny, fill_disks, limit_files
from tests.faults.servers import ANSWERS, download_from


@pytest.mark.parametrize("name", ANSWERS)
def test_a_hostile_server_is_one_line_and_leaves_no_file(name: str, tmp_path: Path) -> None:
    assert download_from(ANSWERS[name], tmp_path, deadline=0.4) == ""


def test_a_full_disk_is_one_line_and_leaves_what_was_there(pristine: Path, tmp_path: Path) -> None:
    report = fill_disks(pristine, tmp_path, [0, 12])
    if not report.tried:
        pytest.skip("a file system may not be mounted here")
    assert not report.failed, report


def test_a_limit_of_the_file_size_is_one_line(pristine: Path, tmp_path: Path) -> None:
    report = limit_files(pristine, tmp_path, [3000])
    assert not report.failed, report


def test_a_missing_permission_is_one_line(pristine: Path, tmp_path: Path) -> None:
    report = deny(pristine, tmp_path)
    assert not report.failed, report
