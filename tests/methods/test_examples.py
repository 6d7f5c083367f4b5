import doctest

import pytest

import dekm
from tests.helpers.methods import ESTIMATORS


@pytest.mark.parametrize("name", ESTIMATORS)
def test_the_example_of_an_estimator_runs(name):
    estimator = getattr(dekm, name)
    (example,) = doctest.DocTestFinder(recurse=False).find(estimator, name, globs={})
    assert example.examples
    failed, _ = doctest.DocTestRunner().run(example)
    assert failed == 0
