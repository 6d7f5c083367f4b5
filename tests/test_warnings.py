"""Warnings of this project are errors with whatever versions of other packages the tests run."""

import warnings

import pytest
from sklearn.exceptions import ConvergenceWarning


@pytest.mark.parametrize("module", ["dekm", "dekm.methods.dekm", "dekm.tracking", __name__])
def test_a_warning_at_a_line_of_this_project_is_an_error(module):
    with pytest.raises(FutureWarning):
        warnings.warn_explicit("deprecated", FutureWarning, "file.py", 1, module=module)


def test_a_method_that_does_not_converge_is_an_error_whatever_line_the_warning_names(make_method, blobs):
    with pytest.raises(ConvergenceWarning):
        make_method("dekm", max_iter=1, tol=0.0).fit(blobs.X)
