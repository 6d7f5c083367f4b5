"""A user's own data: a block of settings becomes a `Dataset`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from dekm.datasets.dataset import Dataset
from dekm.datasets.user import tables
from dekm.datasets.user.arrays import array_shape
from dekm.datasets.user.folders import IMAGE_SUFFIXES, TEXT_SUFFIXES, list_files, visible_files
from dekm.datasets.user.table_files import most_rows, read_table
from dekm.errors import InputError, shown

Kind = Literal["images", "text", "table"]

LICENCE = "the user's own data"
TABLES = (".csv", ".parquet")
ARRAYS = (".npy", ".npz")


def own_dataset(name: str, block: Mapping[str, Any]) -> Dataset:
    """Dataset that a block of settings describes; only the header of a file is read yet.

    Parameters
    ----------
    name : str
        Key of the dataset.
    block : Mapping of str to Any
        `path` and `n_clusters`; optionally `label`, the name in tables; and the options of the loader:

        - ``.npy`` or ``.npz`` file: `labels`, see `arrays.array`;
        - ``.csv`` or ``.parquet`` file: `label_column`, see `tables.table`, and for texts `text_column`,
          `stem` and `scaling`, see `texts.from_column`;
        - folder of images: `image_size` and `channels`, see `folders.images`;
        - folder of texts: `stem` and `scaling`, see `texts.from_folder`.

        A folder of both images and texts needs `kind`, "images" or "text".

        Instead of a file or folder, a `loader`, the import path "module:function" of a function, see
        `loaders.outside`; it needs `kind`, "images", "text" or "table", and may have a `path`.

    Returns
    -------
    Dataset
        The dataset; `n_samples` and `shape` are None.

    Raises
    ------
    InputError
        If a setting is missing, unknown or of the wrong type, or if a path or a column does not exist.
    """
    options = dict(block)
    if "loader" in options:
        return _loaded_dataset(name, options)
    path = Path(_pop(name, options, "path", str, "a path"))
    n_clusters = _pop(name, options, "n_clusters", int, "an integer >= 1")
    if n_clusters < 1:
        raise InputError(f"{name}: n_clusters={n_clusters} should be an integer >= 1.")
    label = _pop(name, options, "label", str, "a name", default=name)
    wanted = _pop(name, options, "kind", str, "'images' or 'text'", default="")
    kind, loader = _loader(name, path, wanted, "text_column" in options)
    dataset = Dataset(label, kind, None, n_clusters, None, f"dekm.datasets.user.{loader}", LICENCE)
    dataset = dataset.with_options({"path": str(path), **options})
    _check_options(name, dataset)
    return dataset


def most_samples(dataset: Dataset) -> int | None:
    """Maximum number of samples of a user's own data, without reading them; None for a loader of the user.

    Raises
    ------
    InputError
        If the path cannot be read.
    """
    if "loader" in dataset.options:
        return None
    path = Path(dataset.options["path"])
    if path.is_dir():
        return len(list_files(path, IMAGE_SUFFIXES if dataset.kind == "images" else TEXT_SUFFIXES)[0])
    if path.suffix.lower() in ARRAYS:
        return array_shape(path)[0]
    return most_rows(path)


def feature_names(dataset: Dataset) -> list[str] | None:
    """Names of the columns of a user's table that are features.

    Parameters
    ----------
    dataset : Dataset
        Any dataset.

    Returns
    -------
    list of str or None
        Names in the order of the columns; None if the dataset is not a user's table.

    Raises
    ------
    InputError
        If the table cannot be read.
    """
    if not dataset.loader.endswith("tables:table"):
        return None
    return tables.feature_names(Path(dataset.options["path"]), dataset.options.get("label_column"))


def _loaded_dataset(name: str, options: dict[str, Any]) -> Dataset:
    """Dataset that a function outside of the package loads."""
    n_clusters = _pop(name, options, "n_clusters", int, "an integer >= 1")
    label = _pop(name, options, "label", str, "a name", default=name)
    kind = _pop(name, options, "kind", str, "'images', 'text' or 'table'")
    if "path" in options and not Path(options["path"]).exists():
        raise InputError(f"{name}: path={options['path']!r} does not exist.")
    dataset = Dataset(label, kind, None, n_clusters, None, "dekm.datasets.user.loaders:outside", LICENCE)
    return dataset.with_options(options)


def _check_options(name: str, dataset: Dataset) -> None:
    """Raise `InputError` if the file of labels, or a column that an option names, does not exist."""
    path, options = Path(dataset.options["path"]), dataset.options
    labels = options.get("labels")
    if labels is not None and not (isinstance(labels, str) and Path(labels).is_file()):
        raise InputError(f"{name}: labels={labels!r} should be an existing file.")
    columns = {key: options[key] for key in ("label_column", "text_column") if key in options}
    if columns:
        names, _ = read_table(path)
        for setting, column in columns.items():
            tables.column_position(path, names, setting, column)


def _loader(name: str, path: Path, wanted: str, has_text: bool) -> tuple[Kind, str]:
    if path.is_dir():
        kind = wanted or _kind_of_folder(name, path)
        if kind == "images":
            return "images", "folders:images"
        if kind == "text":
            return "text", "texts:from_folder"
        raise InputError(f"{name}: kind={kind!r} should be 'images' or 'text'.")
    if wanted:
        raise InputError(f"{name}: kind={wanted!r} should be left out: path={str(path)!r} is not a folder.")
    if not path.exists():
        raise InputError(f"{name}: path={str(path)!r} does not exist.")
    if path.suffix.lower() in TABLES:
        return ("text", "texts:from_column") if has_text else ("table", "tables:table")
    if path.suffix.lower() in ARRAYS:
        return ("images" if len(array_shape(path)) > 2 else "table"), "arrays:array"
    raise InputError(
        f"{name}: path={str(path)!r} should be a folder or end with {', '.join(ARRAYS + TABLES)}."
    )


def _kind_of_folder(name: str, path: Path) -> str:
    files = visible_files(path)
    image, text = (
        next((file for file in files if file.suffix.lower() in suffixes), None)
        for suffixes in (IMAGE_SUFFIXES, TEXT_SUFFIXES)
    )
    if image and text:
        raise InputError(
            f"{name}: path={str(path)!r} holds both images and texts, such as {image.relative_to(path)} and "
            f"{text.relative_to(path)}; set kind to images or text."
        )
    if image or text:
        return "images" if image else "text"
    raise InputError(
        f"{name}: path={str(path)!r} holds no file that ends with "
        f"{', '.join(IMAGE_SUFFIXES + TEXT_SUFFIXES)}."
    )


def _pop(name: str, options: dict[str, Any], key: str, type_: type, what: str, default: Any = None) -> Any:
    value = options.pop(key, default)
    if not isinstance(value, type_) or isinstance(value, bool):
        raise InputError(f"{name}: {key}={shown(value)} should be {what}.")
    return value
