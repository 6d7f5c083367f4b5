"""The pages of the public names, and the check that each of them is described."""

import inspect
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from types import ModuleType
from typing import Any

from numpydoc.docscrape import ClassDoc, FunctionDoc

import dekm
from dekm.errors import InputError
from docs.extension import sources
from docs.extension.text import code, plain, table

PUBLIC_MODULES = {  # what extending and the how-to pages import
    "dekm.metrics": "scores of a partition",
    "dekm.clustering.kmeans": "Equation (2)",
    "dekm.clustering.scatter": "Equation (4) and the matrix V",
    "dekm.methods": "the rows of Table III",
    "dekm.methods.representation": "Equation (6)",
    "dekm.methods.soft_assignment": "the distributions Q and P of DEC",
    "dekm.methods.validation": "valid values of parameters",
    "dekm.nn.training": "the training step",
    "dekm.nn.networks": "the networks of the paper",
    "dekm.nn.checkpoint": "states of an interrupted fit",
    "dekm.datasets": "the rows of Table II",
    "dekm.results.data": "prepared data",
    "dekm.results.folders": "the folder of a cell",
    "dekm.results.seed": "the folder of a seed",
    "dekm.results.record": "what a complete seed left",
    "dekm.results.result_set": "a folder of results",
    "dekm.tables.statistics.inference": "tests and intervals",
    "dekm.tables.statistics.friedman": "mean ranks",
    "dekm.experiment.contract": "the checks of a method",
    "dekm.scaling": "the scaling of samples",
    "dekm.errors": "errors",
}

OWN = {"show_class_members": False}  # only the sections of the docstring
# Methods of an estimator for those who use it; those for who writes one are on the pages of its bases.
FOR_USERS = {
    *("fit", "fit_predict", "fit_transform", "predict", "predict_proba", "transform", "inverse_transform"),
    *("score", "save", "load", "get_params", "set_params", "get_feature_names_out"),
}
BASES = (dekm.Clusterer, dekm.DeepClusterer)


def public_names(module: ModuleType) -> list[str]:
    """The public names that a module defines, in the order of its lines."""
    defined = [
        (inspect.getsourcelines(value)[1], name)
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__
        if inspect.isclass(value) or inspect.isfunction(value)
    ]
    return [name for _, name in sorted(defined)]


def undescribed() -> list[str]:
    """What the reference would lack: public names without docstring, and parameters without description."""
    names = [f"dekm.{name}" for name in dekm.__all__]
    names += [f"{module}.{name}" for module in PUBLIC_MODULES for name in public_names(import_module(module))]
    return [problem for name in names for problem in _problems(name)]


def _problems(name: str) -> list[str]:
    value = _load(name)
    if not inspect.getdoc(value):
        return [f"{name} has no docstring"]
    document = ClassDoc(value, config=OWN) if inspect.isclass(value) else FunctionDoc(value)
    entries = [*document["Parameters"], *(document["Attributes"] if inspect.isclass(value) else ())]
    named = [(part, entry.desc) for entry in entries for part in entry.name.split(", ")]
    if inspect.isclass(value) and not issubclass(value, Exception):
        named += [(part, []) for part in _parameters(value) if part not in dict(named)]
    return [f"{name} does not describe {part}" for part, description in named if not description]


def _parameters(value: type) -> list[str]:
    """The parameters of a constructor that have a name of their own."""
    variable = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD
    return [name for name, one in inspect.signature(value).parameters.items() if one.kind not in variable]


def _load(name: str) -> Any:
    module, _, attribute = name.rpartition(".")
    return getattr(import_module(module), attribute)


def write_pages(folder: Path) -> None:
    """Write one page for each estimator and for each public module.

    Raises
    ------
    InputError
        If a public name or one of its parameters is not described.
    """
    if problems := undescribed():
        raise InputError("; ".join(problems))
    folder.mkdir(exist_ok=True)
    for name in dekm.__all__:
        directive = f".. autoclass:: dekm.{name}\n   :inherited-members: BaseEstimator"
        if is_estimator(value := getattr(dekm, name)):
            hidden = [one for one in dir(value) if not one.startswith("_") and one not in FOR_USERS]
            directive += f"\n   :exclude-members: {', '.join(hidden)}"
        _write(folder / f"{name}.rst", _page(name, directive))
    for module in PUBLIC_MODULES:
        _write(folder / f"{module}.rst", _page(module, f".. automodule:: {module}"))


def is_estimator(value: object) -> bool:
    """Whether a value is a method, and not a base class of the methods."""
    return inspect.isclass(value) and issubclass(value, BASES) and value not in BASES


def with_attributes(value: type) -> list[str]:
    """The lines of the docstring of an estimator, with the attributes that its bases describe."""
    document = ClassDoc(value, config=OWN)
    for base in value.__mro__[1:-1]:
        known = {entry.name for entry in document["Attributes"]}
        inherited = ClassDoc(base, config=OWN)["Attributes"] if base.__doc__ else []
        document["Attributes"] += [entry for entry in inherited if entry.name not in known]
    return str(document).splitlines()


def _page(title: str, directive: str) -> str:
    return f"{title}\n{'=' * len(title)}\n\n{directive}\n"


def _write(file: Path, text: str) -> None:
    if not file.exists() or file.read_text(encoding="utf-8") != text:
        file.write_text(text, encoding="utf-8")


def overview() -> str:
    """The estimators and the public modules with their names."""
    estimators = [
        [f"[{name}](api/{name}.rst)", summary(getattr(dekm, name))]
        for name in sorted(dekm.__all__, key=str.lower)
    ]
    modules = [
        [
            f"[{code(name)}](api/{name}.rst)",
            use,
            ", ".join(code(public) for public in public_names(import_module(name))),
        ]
        for name, use in PUBLIC_MODULES.items()
    ]
    hidden = "\n".join(f"api/{name}" for name in [*dekm.__all__, *PUBLIC_MODULES])
    return (
        "## Estimators\n\nAll are imported from `dekm`.\n\n"
        + table(["class", "what it is"], estimators)
        + "\n## Modules\n\n"
        + table(["module", "what for", "names"], modules)
        + f"\n```{{toctree}}\n:hidden:\n\n{hidden}\n```\n"
    )


def modules() -> str:
    """Every module with the first line of its docstring."""
    found = sorted(
        info.name for info in walk_packages(dekm.__path__, "dekm.") if not info.name.endswith("__main__")
    )
    rows = [[sources.link_of_module(name), summary(import_module(name))] for name in ["dekm", *found]]
    return table(["module", "what it does"], rows)


def summary(value: object) -> str:
    """First sentence of a docstring."""
    return plain((inspect.getdoc(value) or "").split("\n\n")[0])
