"""Code outside of the package: a name with a colon, ``module:attribute``, is an import path."""

import difflib
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from dekm.errors import InputError, shown


def use_folder(folder: Path | None) -> None:
    """Search for modules in a folder, if there is one, and then in the rest of ``sys.path``."""
    if folder is not None and str(folder.absolute()) not in sys.path:
        sys.path.insert(0, str(folder.absolute()))


def load_attribute(name: str) -> Any:
    """Import what an import path ``module:attribute`` names.

    `InputError` if the name has another form, the module cannot be imported, or it has no such attribute.
    """
    module_name, _, attribute = name.partition(":")
    if not (module_name and attribute):
        raise InputError(f"{shown(name)} should be module:attribute.")
    if module_name.endswith(".py"):
        raise InputError(
            f"{shown(name)} should be {module_name.removesuffix('.py')}:{attribute}, without .py."
        )
    try:
        module = import_module(module_name)
    except Exception as error:
        reason = str(error).partition("\n")[0]
        raise InputError(
            f"{shown(name)}: the module {module_name} cannot be imported: {type(error).__name__}: {reason}."
        ) from error
    value: Any = module
    for part in attribute.split("."):
        if not hasattr(value, part):
            close = difflib.get_close_matches(part, dir(value), n=1)
            hint = f"; did you mean {shown(close[0])}?" if close else "."
            place = getattr(module, "__file__", module_name)
            raise InputError(f"{shown(name)}: {place} has no attribute {shown(attribute)}{hint}")
        value = getattr(value, part)
    return value
