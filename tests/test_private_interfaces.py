"""Private names of PyTorch and MLflow, which any version may rename: where they are, and that they exist.

The attributes of Snakemake's `workflow` that the rules use are tested by every run of the workflow.
"""

import re
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# The version in which each was seen, and the only file that uses it.
PRIVATE = {
    "torch:_fused_adam_": ("2.13", "dekm/nn/optimizers.py"),
    "torch:_fused_sgd_": ("2.13", "dekm/nn/optimizers.py"),
    "torch:_foreach_add_": ("2.13", "dekm/nn/optimizers.py"),
    "mlflow.store.tracking.sqlalchemy_store:SqlAlchemyStore._engine_map": (
        "3.17",
        "dekm/tracking/database.py",
    ),
    "mlflow.store.db.utils:_get_latest_schema_revision": ("3.17", "dekm/tracking/database.py"),
}
WITH_FALLBACK = {"_linear_pointwise"}  # where it is missing, PyTorch's own product is taken


@pytest.mark.parametrize("name", PRIVATE)
def test_a_private_name_exists_and_is_used_in_one_file(name):
    version, file = PRIVATE[name]
    module, _, path = name.partition(":")
    found = import_module(module)
    for part in path.split("."):
        assert hasattr(found, part), (
            f"{name}, used by {file}, is not in this version; it was seen in {version}"
        )
        found = getattr(found, part)


def test_no_other_private_name_of_a_package_is_used():
    """A name with an underscore of a package, by `torch._x`, `torch.ops.y._x` or an import."""
    pattern = re.compile(
        r"\b(?:torch(?:\.\w+)*|SqlAlchemyStore)\.(_[a-z]\w*)|from (?:torch|mlflow|snakemake)\S* import (_\w+)"
    )
    used = {
        (next(filter(None, match.groups())), str(file.relative_to(ROOT)))
        for folder in ("dekm", "workflow")
        for file in (ROOT / folder).rglob("*")
        if file.suffix in (".py", ".smk")
        for match in pattern.finditer(file.read_text(encoding="utf-8"))
    }
    known = {(re.split(r"[:.]", name)[-1], file) for name, (_, file) in PRIVATE.items()}
    assert {found for found in used if found[0] not in WITH_FALLBACK} == known
