"""The models of results/reference: each can be loaded, and scores on its data what its card says."""

import os
import re
from pathlib import Path

import pytest

import dekm
from dekm.datasets import DATASETS
from dekm.metrics import accuracy, nmi

ROOT = Path(__file__).parents[1]
FILES = sorted((ROOT / "results/reference").glob("*/models/*.safetensors"))
RAW = Path(os.environ.get("DEKM_RAW_DIR", ROOT / "resources/raw"))


pytestmark = pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)


def read_card(file: Path) -> str:
    return file.with_suffix(".md").read_text(encoding="utf-8")


def test_a_published_model_has_the_clusters_of_its_card(file: Path) -> None:
    model = dekm.DEKM.load(file, device="cpu")
    assert f"| clusters | {model.n_clusters} |" in read_card(file)
    assert model.cluster_centers_.shape[0] == model.n_clusters


def test_a_published_model_has_the_scores_of_its_card(file: Path) -> None:
    card, dataset = read_card(file), DATASETS[file.stem.partition("-")[0]]
    if not any(raw_set.exists(RAW) for raw_set in dataset.raw_sets()):
        pytest.skip(f"the raw files of {dataset.label} are not in {RAW}; DEKM_RAW_DIR names another folder")
    X, y = dataset.load(RAW)[:2]
    labels = dekm.DEKM.load(file, device="cpu").predict(X)
    scores = {name: float(value) for name, value in re.findall(r"\b(acc|nmi) (0\.\d+)", card)}
    assert scores == pytest.approx({"acc": accuracy(y, labels), "nmi": nmi(y, labels)}, abs=5e-4)
