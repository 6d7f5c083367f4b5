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


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_published_model_has_the_scores_of_its_card(file: Path) -> None:
    card = file.with_suffix(".md").read_text(encoding="utf-8")
    name, method, _ = file.stem.split("-")
    model = getattr(dekm, method.upper()).load(file, device="cpu")
    assert f"| clusters | {model.n_clusters} |" in card
    dataset = DATASETS[name]
    if not any(raw_set.exists(RAW) for raw_set in dataset.raw_sets()):
        pytest.skip(f"the raw files of {dataset.label} are not in {RAW}; DEKM_RAW_DIR names another folder")
    X, y = dataset.load(RAW)[:2]
    labels = model.predict(X)
    scores = {name: float(value) for name, value in re.findall(r"\b(acc|nmi) (0\.\d+)", card)}
    assert scores == pytest.approx({"acc": accuracy(y, labels), "nmi": nmi(y, labels)}, abs=5e-4)
