"""The error rates that docs/statistics.md reports, with fewer repeats."""

import importlib
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from scipy import stats

from dekm.tables.statistics.inference import LEVEL

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"
N_REPEATS, N_SETS = 60, 15


@pytest.fixture
def error_rates(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module("error_rates")


def test_no_wrong_verdict_is_more_frequent_than_the_level(error_rates: ModuleType) -> None:
    for name, study in error_rates.ERRORS.items():
        repeats = N_SETS if "two sets" in name else N_REPEATS
        most = stats.binom.isf(1e-4, repeats, LEVEL) / repeats
        assert study(np.random.default_rng(1), 3, repeats) <= most, name


def test_large_effects_are_found_with_five_seeds(error_rates: ModuleType) -> None:
    for name in ("5 points apart: `above` holds", "10 points apart: `far above` holds"):
        assert error_rates.POWER[name](np.random.default_rng(1), 5, N_REPEATS) > 0.9, name
