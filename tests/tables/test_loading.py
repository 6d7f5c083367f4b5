"""Footnotes of the cells of Table III that the facts of the data decide."""

import pytest

from dekm.tables.loading import labels_note


@pytest.mark.parametrize(
    ("class_counts", "note"),
    [
        ([700, 500], "only the 1,200 of 2,000 samples that have a true label are scored"),
        ([1200, 800], ""),
        (None, ""),
        (
            [2000],
            "all true labels are equal: ACC is the fraction of samples in the largest cluster, and no score "
            "is informative",
        ),
    ],
)
def test_samples_without_a_label_are_counted(class_counts, note):
    assert labels_note({"n_samples": 2000, "class_counts": class_counts}) == note
