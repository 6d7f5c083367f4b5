"""The pretrained autoencoders of results/reference, from which `pretrained` starts."""

from pathlib import Path

import pytest

from dekm.experiment.starts import take_published
from dekm.results.record import read_record

FOLDERS = sorted((Path(__file__).parents[1] / "results/reference").glob("*/pretrained/*/*/seed*"))


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: "-".join(folder.parts[-3:]))
def test_a_published_autoencoder_is_the_one_that_its_facts_describe(folder: Path) -> None:
    record = read_record(folder)
    autoencoder = take_published(record, "cpu")
    assert len(autoencoder.loss_curve_) == record.facts["parameters"]["n_epochs"]
    assert autoencoder.loss_curve_[-1] == pytest.approx(record.metrics["loss"])
