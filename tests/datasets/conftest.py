import pytest

from dekm.datasets import DATASETS
from dekm.datasets.labels import name_classes

EMBEDDED = [name for name, dataset in DATASETS.items() if not dataset.raw]


@pytest.fixture(scope="module")
def loaded(tmp_path_factory):
    """Every embedded dataset as its loader returns it, with encoded labels."""
    found = {name: DATASETS[name].load(tmp_path_factory.mktemp("raw")) for name in EMBEDDED}
    return {name: (one.X, name_classes(one.y)[0]) for name, one in found.items()}
