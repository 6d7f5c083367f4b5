import pytest

from dekm.errors import InputError
from dekm.parameters import check_choice, check_integer


@pytest.mark.parametrize("value", [0, 1.0, "5", None, True, float("inf"), "all"])
def test_what_is_no_integer_above_the_minimum_is_named(value):
    with pytest.raises(InputError, match=r"size=.* should be an integer >= 1 or 'auto'\."):
        check_integer("size", value, minimum=1, words=("auto",))


def test_an_integer_or_a_word_passes():
    check_integer("size", 1, minimum=1)
    check_integer("size", "auto", minimum=1, words=("auto",))


@pytest.mark.parametrize("value", [1, "no", None])
def test_a_choice_that_is_none_of_them_is_named(value):
    with pytest.raises(InputError, match=r"keep=.* should be True, False or 'images'\."):
        check_choice("keep", value, (True, False, "images"))


def test_restarts_follow_the_lloyd_iterations_of_the_fit_before(make_method):
    dekm = make_method("dekm", n_init_update="2n_iter")
    assert [dekm._n_init_update(n_iter) for n_iter in (0, 1, 7)] == [1, 2, 14]
    assert make_method("dekm", n_init_update=5)._n_init_update(7) == 5


def test_the_released_rule_of_restarts_fits(make_method, blobs):
    assert make_method("dekm", n_init_update="2n_iter", max_iter=3, tol=0.5).fit(blobs.X).labels_.shape == (
        300,
    )
