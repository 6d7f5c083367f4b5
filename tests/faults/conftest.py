from pathlib import Path

import pytest

from tests.faults.material import make_results, working_directory


@pytest.fixture(scope="session")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small folder of results; a test copies what it damages."""
    folder = tmp_path_factory.mktemp("pristine")
    with working_directory(folder):
        return make_results(folder / "tiny")
