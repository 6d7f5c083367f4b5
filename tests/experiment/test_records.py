import csv

import numpy as np

from dekm.experiment.records import COLUMNS, distances_and_margins, write_assignments
from dekm.results.data import SampleNames


def table(file):
    with file.open(newline="", encoding="utf-8") as stream:
        return [tuple(row) for row in csv.reader(stream)]


def test_distances_and_margins_by_hand():
    H = np.array([[0.0, 0.0], [1.0, 0.0], [4.0, 0.0]])
    distances, margins = distances_and_margins(H, np.array([0, 0, 0]), np.array([[0.0, 0.0], [3.0, 0.0]]))
    np.testing.assert_allclose(distances, [0, 1, 4])
    np.testing.assert_allclose(margins, [1, 0.5, -0.75])


def test_a_single_center_leaves_no_margin_and_a_center_that_is_nan_does_not_count():
    H = np.array([[0.0], [1.0]])
    assert np.isnan(distances_and_margins(H, np.zeros(2, int), np.zeros((1, 1)))[1]).all()
    margins = distances_and_margins(H, np.zeros(2, int), np.array([[0.0], [np.nan], [2.0]]))[1]
    np.testing.assert_allclose(margins, [1, 0])


def test_the_table_names_files_classes_and_empty_fields(tmp_path):
    samples = SampleNames(np.array([3, 7]), np.array(["=a.png", "b.png"]), np.array(["acq", "-x"]))
    values = np.array([1.25, np.nan])
    write_assignments(tmp_path / "x.csv", np.array([2, -1]), samples, values, values)
    assert table(tmp_path / "x.csv") == [
        COLUMNS,
        ("3", "'=a.png", "acq", "2", "1.25", "1.25"),
        ("7", "b.png", "'-x", "-1", "", ""),
    ]


def test_samples_without_files_are_called_by_their_rows(tmp_path):
    samples = SampleNames(np.array([3, 7]), None, None)
    write_assignments(tmp_path / "x.csv", np.array([0, 1]), samples, np.zeros(2), np.ones(2))
    assert table(tmp_path / "x.csv")[1:] == [("3", "3", "", "0", "0", "1"), ("7", "7", "", "1", "0", "1")]
