import re

import numpy as np
import pytest
from scipy import sparse

from dekm.datasets import DATASETS
from dekm.datasets.validation import check

EMBEDDED = [name for name, dataset in DATASETS.items() if not dataset.raw]
TABLE_II = {
    "MNIST": (70_000, 10, (28, 28, 1)),
    "USPS": (9298, 10, (16, 16, 1)),
    "COIL-20": (1440, 20, (28, 28, 1)),
    "FRGC": (2462, 20, (32, 32, 3)),
    "REUTERS-10K": (10_000, 4, (2000,)),
    "20NEWS": (18_846, 20, (2000,)),
    "RCV1-10K": (10_000, 4, (2000,)),
}


@pytest.mark.parametrize("name", EMBEDDED)
def test_embedded_data_are_what_their_row_says(name, loaded):
    X, y = loaded[name]
    check(DATASETS[name], X, y)
    assert set(y) == set(range(DATASETS[name].n_clusters))
    values = X.data if sparse.issparse(X) else X
    assert values.dtype in (np.float32, np.uint8)
    assert values.min() >= 0
    assert values.max() <= 1


@pytest.mark.parametrize("name", DATASETS)
def test_every_row_has_addresses_checksums_and_a_licence(name):
    dataset = DATASETS[name]
    assert dataset.licence
    assert len(dataset.shape) == (3 if dataset.kind == "images" else 1)
    if dataset.class_counts is not None:
        assert len(dataset.class_counts) == dataset.n_clusters
        assert sum(dataset.class_counts) == dataset.n_samples
    for raw_file in dataset.raw:
        assert raw_file.urls
        assert all(url.startswith(("https://", "http://")) for url in raw_file.urls)
        assert raw_file.verifiable
        assert all(re.fullmatch("[0-9a-f]{32,64}", value) for value in raw_file.checksums().values())


def test_the_rows_are_those_of_the_papers_table():
    rows = {row.label: (row.n_samples, row.n_clusters, row.shape) for row in DATASETS.values()}
    assert {label: rows[label] for label in TABLE_II} == TABLE_II


@pytest.mark.parametrize("row", DATASETS.values(), ids=DATASETS)
def test_every_row_has_loaders_that_exist_and_raw_files_in_folders(row):
    assert all(raw_set.options() <= {"stem", "scaling", "subset"} for raw_set in row.raw_sets())
    assert row.class_counts is None or sum(row.class_counts) == row.n_samples
    assert all(raw_file.path.count("/") >= 1 for raw_set in row.raw_sets() for raw_file in raw_set.raw)
