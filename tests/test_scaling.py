"""The one rule that maps raw samples to those that a method is fitted on."""

import json

import numpy as np
import pytest
from scipy import sparse

from dekm.errors import InputError
from dekm.scaling import (
    NO_SCALING,
    PIXELS,
    InputScaling,
    check_channels_last,
    learn_column_scaling,
    learn_image_scaling,
    looks_like_counts,
    loses_digits,
)

BYTES = np.arange(0, 256, 2, dtype=np.uint8).reshape(2, 8, 8, 1)


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int64])
def test_bytes_of_any_integer_type_are_divided_by_255(dtype):
    X = BYTES.astype(dtype)
    assert learn_image_scaling(X) == PIXELS
    np.testing.assert_array_equal(PIXELS(X), BYTES.astype(np.float32) / np.float32(255))


def test_floats_in_the_unit_interval_are_kept_and_mean_the_same_rule():
    X = PIXELS(BYTES)
    assert learn_image_scaling(X) == PIXELS
    assert PIXELS(X) is X


@pytest.mark.parametrize(
    ("X", "reason"),
    [
        (BYTES.astype(np.float32), "floats from 0 to 254, but the model was fitted on images in"),
        (BYTES[:1].astype(np.float32) + 0.5, "floats from 0.5 to"),
        (np.full((1, 8, 8, 1), 300), "integers from 300 to 300"),
        (np.full((1, 8, 8, 1), -1), "integers from -1 to -1"),
        (np.eye(8, dtype=np.int64).reshape(1, 8, 8, 1), "no integers but 0 and 1"),
    ],
)
def test_images_that_cannot_be_told_from_others_are_refused(X, reason):
    with pytest.raises(InputError, match=reason):
        PIXELS(X)


def test_black_and_white_integers_keep_their_values_and_bytes_are_then_refused():
    X = np.eye(8, dtype=np.uint8).reshape(1, 8, 8, 1)
    rule = learn_image_scaling(X)
    assert rule(X).max() == 1
    assert rule(X.astype(np.float32)).max() == 1
    with pytest.raises(
        InputError, match="integers from 0 to 254, but the model was fitted on values from 0 to 1"
    ):
        rule(BYTES)


def test_bytes_are_refused_by_a_model_of_standardized_images_and_taken_by_one_of_floats_up_to_255():
    standardized = learn_image_scaling(np.linspace(-2, 2, 64, dtype=np.float32).reshape(1, 8, 8, 1))
    with pytest.raises(InputError, match="fitted on values from -2 to 2: prepare X in the same way"):
        standardized(BYTES)
    as_floats = learn_image_scaling(BYTES.astype(np.float32))
    np.testing.assert_allclose(as_floats(BYTES), BYTES / 254, rtol=1e-6)
    with pytest.raises(InputError, match=r"in \[0, 1\], but .*: multiply X by 255"):
        as_floats(BYTES / 255)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_columns_are_standardized_or_mapped_to_the_unit_interval(form):
    X = np.array([[0, 5, 100], [2, 5, 300], [4, 5, 200]], np.float32)
    standard = learn_column_scaling(form(X), "standard")(form(X))
    np.testing.assert_allclose(standard.mean(0), 0, atol=1e-6)
    np.testing.assert_allclose(standard.std(0), [1, 0, 1], rtol=1e-6)
    minmax = learn_column_scaling(form(X), "minmax")(form(X))
    np.testing.assert_array_equal(minmax, [[0, 0, 0], [0.5, 0, 1], [1, 0, 0.5]])
    assert standard.dtype == minmax.dtype == np.float32
    assert learn_column_scaling(form(X), "none") == NO_SCALING


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_columns_are_scaled_by_default_only_if_a_value_is_large(form):
    small = form(np.array([[-3.5, 1], [9.5, 0]], np.float32))
    assert learn_column_scaling(small, "auto")(small) is small
    assert learn_column_scaling(small * 10, "auto").kind == "minmax"


def test_a_rule_comes_back_from_json_to_the_last_bit():
    X = np.random.default_rng(0).normal(size=(20, 3)).astype(np.float32) * 100
    rule = learn_column_scaling(X, "standard")
    read = InputScaling.from_facts(json.loads(json.dumps(rule.facts())))
    assert read == rule
    np.testing.assert_array_equal(read(X), rule(X))
    np.testing.assert_allclose(read.inverse(read(X)), X, rtol=1e-5, atol=1e-4)
    assert InputScaling.from_facts(None) == NO_SCALING


def test_a_table_of_another_width_is_refused():
    rule = learn_column_scaling(np.ones((3, 2), np.float32), "minmax")
    with pytest.raises(InputError, match=r"shape \(3, 4\) should have 2 columns"):
        rule(np.ones((3, 4), np.float32))


@pytest.mark.parametrize("dtype", [np.uint16, np.int32, np.float32, np.float64])
def test_images_of_other_units_are_scaled_by_their_range(dtype):
    X = (np.arange(128).reshape(2, 8, 8, 1) * 300 + 1000).astype(dtype)
    rule = learn_image_scaling(X)
    assert (rule.kind, rule.low, rule.high) == ("range", 1000, 39100)
    scaled = InputScaling.from_facts(json.loads(json.dumps(rule.facts())))(X)
    assert (scaled.dtype, scaled.min(), scaled.max()) == (np.float32, 0, 1)
    np.testing.assert_allclose(rule.inverse(scaled), X, rtol=1e-5)
    with pytest.raises(
        InputError, match=r"values in \[0, 1\], but the model was fitted on values from 1000 to"
    ):
        rule(np.linspace(0, 1, 64).reshape(1, 8, 8, 1))
    with pytest.raises(InputError, match=r"from 1e\+06 to 1e\+06, but .*: prepare X in the same units"):
        rule(np.full((1, 8, 8, 1), 1_000_000))


def test_a_range_of_one_value_gives_zeros():
    X = np.full((1, 8, 8, 1), 500, np.uint16)
    assert learn_image_scaling(X)(X).max() == 0


@pytest.mark.parametrize("kind", ["auto", "minmax", "standard"])
def test_an_offset_takes_no_digits_of_a_table(kind):
    spread = np.arange(20.0).reshape(10, 2) * [1, 50_000]
    rows, offset = spread + np.array([1e8, 1.7e12]), np.array([1e8, 1.7e12])
    rule = learn_column_scaling(rows, kind)
    expected = learn_column_scaling(spread, "standard" if kind == "standard" else "minmax")(spread)
    scaled = rule(rows)
    assert scaled.dtype == np.float32
    np.testing.assert_allclose(scaled, expected, atol=1e-6)
    np.testing.assert_allclose(rule.inverse(scaled) - offset, spread, atol=0.1)


@pytest.mark.parametrize(
    ("column", "loses"),
    [
        ([1.7e12, 1.7e12 + 90_000], True),
        ([1e300, 2e300], True),
        ([4_649_776, 4_650_800.25], True),
        ([1900, 2020], False),
        ([0.1, 0.1], False),
        ([0.1, 1e7], False),
    ],
)
def test_columns_that_float32_rounds_are_recognized(column, loses):
    assert loses_digits(np.array([column]).T) == loses


def test_small_values_that_differ_in_their_last_digits_are_scaled_by_default():
    X = 1 + np.arange(10.0).reshape(5, 2) * 1e-7
    np.testing.assert_allclose(learn_column_scaling(X, "auto")(X)[:, 0], np.linspace(0, 1, 5), atol=1e-6)


def test_a_range_beyond_float64_is_refused():
    with pytest.raises(InputError, match="column 1 has a range beyond float64"):
        learn_column_scaling(np.array([[0, -1.7e308], [1, 1.7e308]]), "minmax")


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.csc_matrix])
def test_counts_become_log_of_one_plus_ten_thousandths_of_their_total(form):
    X = np.array([[0, 3, 1], [0, 0, 0], [50, 0, 0]], np.float32)
    rule = learn_column_scaling(form(X), "counts")
    scaled = rule(form(X))
    assert sparse.issparse(scaled) == (form is not np.asarray)
    assert scaled.dtype == np.float32
    expected = np.log1p([[0, 7500, 2500], [0, 0, 0], [10000, 0, 0]])
    np.testing.assert_allclose(scaled.toarray() if form is not np.asarray else scaled, expected, rtol=1e-6)
    np.testing.assert_array_equal(form(X).sum(), 54)
    with pytest.raises(InputError, match="scaling='counts' needs values >= 0; the smallest is -1"):
        learn_column_scaling(form(X - 1), "counts")


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_counts_are_recognized_as_whole_numbers_that_are_mostly_zero(form):
    counts = np.diag(np.arange(20, dtype=np.float32))
    assert looks_like_counts(form(counts))
    for other in (counts + 0.5, -counts, counts + 1, np.eye(20)):
        assert not looks_like_counts(form(other))


@pytest.mark.parametrize("shape", [(5, 3, 32, 32), (5, 1, 28, 28), (5, 4, 8, 9)])
def test_channels_first_are_recognized(shape):
    with pytest.raises(InputError, match=r"X: shape .* seems to be \(n, channels, h, w\).*: transpose it"):
        check_channels_last("X", shape, "transpose it")


@pytest.mark.parametrize("shape", [(5, 32, 32, 3), (5, 3, 3, 3), (3, 1, 9, 5), (5, 3, 40, 4), (7, 17, 23, 3)])
def test_channels_last_pass(shape):
    check_channels_last("X", shape, "transpose it")
