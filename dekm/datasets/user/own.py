"""A user's own data: a block of settings becomes a `Dataset`."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from dekm.datasets.dataset import Dataset, Kind, RawSet
from dekm.datasets.raw import openml
from dekm.datasets.tfidf import Scaling
from dekm.datasets.user import tables
from dekm.datasets.user.arrays import array_shape
from dekm.datasets.user.folders import IMAGE_SUFFIXES, TEXT_SUFFIXES, list_files, visible_files
from dekm.datasets.user.formats import ARRAYS, ENDINGS, TABLES, format_of
from dekm.datasets.user.table_files import most_rows, open_table
from dekm.datasets.user.text_tables import Form
from dekm.errors import InputError, shown
from dekm.scaling import TABLE_SCALINGS

LICENCE = "the user's own data"
TEXT_SCALINGS = get_args(Scaling)
COLUMN_SETTINGS = ("label_column", "text_column", "name_column")
FORM_SETTINGS = ("separator", "decimal", "header")
SERVER = re.compile("[A-Za-z][A-Za-z0-9+.-]+:.*/")  # not a drive of Windows such as C:\
LIST_SETTINGS = ("ignore_columns", "categories")


def own_dataset(name: str, block: Mapping[str, Any], defaults: Mapping[str, Any] | None = None) -> Dataset:
    """Dataset that a block of settings describes; only the header of a file is read yet.

    The block has `path`, perhaps an address of OpenML, and `n_clusters`; optionally `label`, the name in
    tables; and the options of the loader: `arrays.array` for a file of arrays, `tables.table` for a table or,
    with `text_column`, `texts.from_column`, `images.images` for a folder of images, `texts.from_folder` for
    one of texts. A folder of both needs `kind`, "images" or "text". Rows of numbers, of a table or an array,
    have the option `scaling` too, see `dekm.scaling.learn_column_scaling`.

    Instead of a file or folder, a `loader`, the import path "module:function" of a function, see
    `loaders.outside`; it needs `kind`, "images", "text" or "table", and may have a `path`.

    `defaults` are options of the loader that are used where the block has none and the loader accepts them.
    `InputError` if a setting is missing, unknown or of the wrong type, or a path or a column does not exist.
    """
    options, given = dict(block), dict(defaults or {})
    n_clusters = _pop(name, options, "n_clusters", int, "an integer >= 1")
    if n_clusters < 1:
        raise InputError(f"{name}: n_clusters={n_clusters} should be an integer >= 1.")
    label = _pop(name, options, "label", str, "a name", default=name)
    if "loader" in options:
        return _loaded_dataset(name, label, n_clusters, options, given)
    path = find_path(_pop(name, options, "path", str, "a path"))
    wanted = _pop(name, options, "kind", str, "'images' or 'text'", default="")
    kind, loader = _loader(name, path, wanted, given | options)
    loader = f"dekm.datasets.user.{loader}"
    accepted = RawSet(loader).options()
    options = {key: value for key, value in given.items() if key in accepted} | options
    scaling = _pop_scaling(name, options, kind)
    for setting in LIST_SETTINGS:
        if isinstance(options.get(setting), str):
            options[setting] = [options[setting]]
    if isinstance(options.get("labels"), str):
        options["labels"] = str(find_path(options["labels"]))
    raw = (openml.raw_file(str(path)),) if openml.is_address(path) else ()
    dataset = Dataset(label, kind, None, n_clusters, None, loader, LICENCE, raw, scaling=scaling)
    dataset = dataset.with_options({"path": str(path), **options})
    _check_options(name, dataset)
    return dataset


def most_samples(dataset: Dataset) -> int | None:
    """Maximum number of samples of a user's own data; None for a loader of the user or a raw file."""
    if "loader" in dataset.options or dataset.raw:
        return None
    path = Path(dataset.options["path"])
    if path.is_dir():
        return len(list_files(path, IMAGE_SUFFIXES if dataset.kind == "images" else TEXT_SUFFIXES)[0])
    if format_of(path) in ARRAYS:
        return _array_shape(path, dataset.options)[0]
    return most_rows(path)


def find_path(path: str) -> Path:
    """A path that a user gave, with "~" for the home folder; `InputError` if that of a user is unknown."""
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise InputError(f"path={shown(path)}: the home folder is unknown.") from error


def _pop_scaling(name: str, options: dict[str, Any], kind: str) -> str:
    """The scaling of the columns of a table, which is no option of its loader; that of texts stays."""
    valid = {"table": TABLE_SCALINGS, "text": TEXT_SCALINGS}.get(kind, ())
    if "scaling" in options and options["scaling"] not in valid:
        right = f"one of {', '.join(valid)}" if valid else "left out: it is for tables and texts"
        raise InputError(f"{name}: scaling={shown(options['scaling'])} should be {right}.")
    return str(options.pop("scaling", "auto")) if kind == "table" else "none"


def _loaded_dataset(
    name: str, label: str, n_clusters: int, options: dict[str, Any], given: Mapping[str, Any]
) -> Dataset:
    """Dataset that a function outside of the package loads."""
    what = "'images', 'text' or 'table'"
    kind = _pop(name, options, "kind", str, what, default=given.get("kind"))
    if kind not in get_args(Kind):
        raise InputError(f"{name}: kind={shown(kind)} should be {what}.")
    if "path" in options:
        options["path"] = str(find_path(_pop(name, options, "path", str, "a path")))
        if not Path(options["path"]).exists():
            raise InputError(f"{name}: path={shown(options['path'])} does not exist.")
    scaling = _pop_scaling(name, options, kind) if kind != "text" else "none"
    loader = "dekm.datasets.user.loaders:outside"
    dataset = Dataset(label, kind, None, n_clusters, None, loader, LICENCE, scaling=scaling)
    return dataset.with_options(options)


def _check_options(name: str, dataset: Dataset) -> None:
    """Raise `InputError` if the file of labels, or a column that an option names, does not exist."""
    path, options = Path(dataset.options["path"]), dataset.options
    labels = options.get("labels")
    if labels is not None and not (isinstance(labels, str) and Path(labels).is_file()):
        raise InputError(f"{name}: labels={shown(labels)} should be an existing file.")
    for setting in LIST_SETTINGS:
        columns = options.get(setting, [])
        if not isinstance(columns, list | tuple) or not all(isinstance(column, str) for column in columns):
            raise InputError(f"{name}: {setting}={shown(columns)} should be a list of names of columns.")
    _check_form(name, options)
    if given := [setting for setting in FORM_SETTINGS if dataset.raw and setting in options]:
        raise InputError(f"{name}: {given[0]} should be left out: it is for tables of text.")
    if format_of(path) not in TABLES:
        return
    named = [(setting, options[setting]) for setting in COLUMN_SETTINGS if setting in options]
    named += [(setting, column) for setting in LIST_SETTINGS for column in options.get(setting, ())]
    if named:
        table = open_table(
            path, Form(options.get("separator"), options.get("decimal", "."), options.get("header"))
        )
        for setting, column in named:
            try:
                tables.check_column(table, setting, column)
            except InputError as error:
                raise InputError(f"{name}: {error}") from error


def _check_form(name: str, options: Mapping[str, Any]) -> None:
    separator, decimal = options.get("separator"), options.get("decimal", ".")
    if separator is not None and not (isinstance(separator, str) and len(separator) == 1):
        raise InputError(f"{name}: separator={shown(separator)} should be one character.")
    if decimal not in (".", ","):
        raise InputError(f"{name}: decimal={shown(decimal)} should be '.' or ','.")
    if not isinstance(options.get("header"), bool | None):
        raise InputError(f"{name}: header={shown(options['header'])} should be true or false.")
    shape = options.get("image_shape", [1, 1])
    if not isinstance(shape, list | tuple) or not all(type(side) is int and side > 0 for side in shape):
        raise InputError(f"{name}: image_shape={shown(shape)} should be [h, w] or [h, w, c].")


def _loader(name: str, path: Path, wanted: str, options: Mapping[str, Any]) -> tuple[Kind, str]:
    if path.is_dir():
        kind = wanted or _kind_of_folder(name, path)
        if kind == "images":
            return "images", "images:images"
        if kind == "text":
            return "text", "texts:from_folder"
        raise InputError(f"{name}: kind={shown(kind)} should be 'images' or 'text'.")
    if wanted:
        raise InputError(
            f"{name}: kind={shown(wanted)} should be left out: path={shown(str(path))} is not a folder."
        )
    is_address = openml.is_address(path)
    if is_address and not openml.ADDRESS.fullmatch(str(path)):
        raise InputError(f"{name}: path={shown(str(path))} should be {openml.FORM}.")
    if not is_address and not path.exists():
        text = f"{name}: path={shown(str(path))} does not exist."
        if SERVER.match(str(path)):
            text += f" An address should be {openml.FORM}; save data of another server, or of the "
            text += "Hugging Face hub, as a file."
        raise InputError(text)
    if not is_address and not path.is_file():
        raise InputError(f"{name}: path={shown(str(path))} is neither a file nor a folder.")
    numbers: Kind = "images" if options.get("image_shape") else "table"
    if is_address or format_of(path) in TABLES:
        return ("text", "texts:from_column") if "text_column" in options else (numbers, "tables:table")
    if format_of(path) in ARRAYS:
        return ("images" if len(_array_shape(path, options)) > 2 else numbers), "arrays:array"
    raise InputError(f"{name}: path={shown(str(path))} should be a folder or end with {ENDINGS}.")


def _array_shape(path: Path, options: Mapping[str, Any]) -> tuple[int, ...]:
    return array_shape(path, *(options.get(name) for name in ("array", "label_array", "samples")))


def _kind_of_folder(name: str, path: Path) -> str:
    files = visible_files(path)
    image, text = (
        next((file for file in files if file.suffix.lower() in suffixes), None)
        for suffixes in (IMAGE_SUFFIXES, TEXT_SUFFIXES)
    )
    if image and text:
        raise InputError(
            f"{name}: path={shown(str(path))} holds both images and texts, such as {image.relative_to(path)} "
            f"and {text.relative_to(path)}; set kind to images or text."
        )
    if image or text:
        return "images" if image else "text"
    raise InputError(
        f"{name}: path={shown(str(path))} holds no file that ends with "
        f"{', '.join(IMAGE_SUFFIXES + TEXT_SUFFIXES)}."
    )


def _pop(name: str, options: dict[str, Any], key: str, type_: type, what: str, default: Any = None) -> Any:
    value = options.pop(key, default)
    if not isinstance(value, type_) or isinstance(value, bool):
        raise InputError(f"{name}: {key}={shown(value)} should be {what}.")
    return value
