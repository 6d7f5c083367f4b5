import pytest

from dekm.datasets import DATASETS

EMBEDDED = [name for name, dataset in DATASETS.items() if not dataset.raw]


@pytest.fixture(scope="module")
def loaded(tmp_path_factory):
    """Every embedded dataset as its loader returns it."""
    return {name: DATASETS[name].load(tmp_path_factory.mktemp("raw"))[:2] for name in EMBEDDED}
