"""A user's own data: a block of settings becomes a `Dataset`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from dekm.datasets.dataset import Dataset
from dekm.datasets.user import tables
from dekm.datasets.user.arrays import is_images
from dekm.datasets.user.folders import IMAGE_SUFFIXES, TEXT_SUFFIXES, visible_files
from dekm.errors import InputError

Kind = Literal["images", "text", "table"]

LICENCE = "the user's own data"
TABLES = (".csv", ".parquet")
ARRAYS = (".npy", ".npz")


def own_dataset(name: str, block: Mapping[str, Any]) -> Dataset:
    """Dataset that a block of settings describes; the data are not read yet.

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
        If a setting is missing, unknown or of the wrong type, or if the path does not exist.
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
    return dataset.with_options({"path": str(path), **options})


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
        return ("images" if is_images(path) else "table"), "arrays:array"
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
        raise InputError(f"{name}: {key}={value!r} should be {what}.")
    return value
