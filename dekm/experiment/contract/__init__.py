"""What every method fulfils, as checks of one estimator: ``python -m dekm check`` and the tests run them."""

import inspect
import warnings
from collections.abc import Iterator

from dekm.experiment.contract.checks import CHECKS
from dekm.experiment.contract.subject import CheckFailedError, CheckSkippedError, Subject

__all__ = ["CHECKS", "CheckSkippedError", "Subject", "run_checks"]


def run_checks(subject: Subject) -> Iterator[tuple[str, str]]:
    """Run all checks; yield "passed", "failed" or "skipped" of each, what is checked, and why it failed."""
    for check in CHECKS:
        what = inspect.getdoc(check) or ""
        result, reason = "passed", ""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                check(subject)
            except CheckSkippedError as skipped:
                result, reason = "skipped", f" Skipped: {skipped}."
            except CheckFailedError as failed:
                result, reason = "failed", f" Failed: {failed}."
            except Exception as error:
                result, reason = "failed", f" Failed: {type(error).__name__}: {error}"
        yield result, what + reason
