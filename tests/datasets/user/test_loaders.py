"""Data that a function of the user loads."""

import numpy as np
import pytest
import torch
from scipy import sparse

from dekm.datasets.user.own import own_dataset
from dekm.errors import InputError
from tests.helpers.own_data import prepare

MODULE = __name__


def rows():
    return np.arange(12).reshape(6, 2), list("ababab")


def images():
    return np.zeros((4, 5, 3), np.uint8), None


def words():
    return sparse.csc_matrix(np.eye(4)), [1, 1, 2, 2]


def tensors():
    return torch.eye(4), torch.tensor([0, 1, 0, 1])


def from_file(path):
    return np.load(path), None


def block(name, kind="table", **options):
    return {"loader": f"{MODULE}:{name}", "kind": kind, **options}


@pytest.mark.parametrize(
    ("name", "kind", "shape", "y"),
    [
        ("rows", "table", (6, 2), [0, 1, 0, 1, 0, 1]),
        ("images", "images", (4, 5, 3, 1), None),
        ("words", "text", (4, 4), [0, 0, 1, 1]),
        ("tensors", "table", (4, 4), [0, 1, 0, 1]),
    ],
)
def test_a_function_returns_samples_and_labels(name, kind, shape, y, tmp_path):
    X, labels, facts = prepare(tmp_path, block(name, kind))
    assert (X.shape, X.dtype, facts["kind"]) == (shape, np.float32, kind)
    assert sparse.issparse(X) == (name == "words")
    assert labels is None if y is None else labels.tolist() == y


def test_a_function_is_called_with_the_path_of_its_block(tmp_path):
    np.save(tmp_path / "a.npy", np.ones((3, 2)))
    X, _, facts = prepare(tmp_path, block("from_file", path=str(tmp_path / "a.npy")))
    assert X.tolist() == [[1, 1]] * 3
    assert facts["options"]["path"] == str(tmp_path / "a.npy")
    with pytest.raises(InputError, match=r"mine: path='nowhere' does not exist"):
        own_dataset("mine", block("from_file", path="nowhere", n_clusters=2))


def short():
    return np.ones((6, 2)), [0, 1]


def texts():
    return np.array(["a", "b"]), None


def infinite():
    return np.full((3, 2), np.inf), None


def alone():
    return np.ones((6, 2))


def failing():
    raise KeyError("x")


@pytest.mark.parametrize(
    ("name", "kind", "text"),
    [
        ("short", "table", r"loader='.*:short': 2 labels should be 6, one per sample"),
        ("texts", "table", r"loader='.*:texts': values of type <U1 should be numbers"),
        ("infinite", "table", r"loader='.*:infinite': the value at \[0, 0\] is not a finite number"),
        ("alone", "table", r"loader='.*:alone' should return X and y: ValueError"),
        ("failing", "table", r"loader='.*:failing' should return X and y: KeyError: 'x'"),
        ("nowhere", "table", r"has no attribute 'nowhere'"),
        ("rows", "images", r"mine: loaded shape \(6, 2\) should be \(n, h, w, c\)"),
        ("images", "table", r"mine: loaded shape \(4, 5, 3, 1\) should be \(n, d\)"),
    ],
)
def test_a_function_that_returns_something_else_is_one_line(name, kind, text, tmp_path):
    with pytest.raises(InputError, match=text):
        prepare(tmp_path, block(name, kind))


def test_a_block_with_a_loader_needs_its_kind_and_has_no_options_of_files():
    with pytest.raises(InputError, match=r"mine: kind=None should be 'images', 'text' or 'table'"):
        own_dataset("mine", {"loader": "a:b", "n_clusters": 2})
    with pytest.raises(InputError, match=r"mine: kind='foo' should be 'images', 'text' or 'table'"):
        own_dataset("mine", {"loader": "a:b", "n_clusters": 2, "kind": "foo"})
    with pytest.raises(InputError, match=r"mine: n_clusters=0 should be an integer >= 1"):
        own_dataset("mine", {"loader": "a:b", "n_clusters": 0, "kind": "table"})
    with pytest.raises(InputError, match=r"mine: path=5 should be a path"):
        own_dataset("mine", {"loader": "a:b", "n_clusters": 2, "kind": "table", "path": 5})
    with pytest.raises(InputError, match=r"options \['image_size'\] should be among"):
        own_dataset("mine", {"loader": "a:b", "n_clusters": 2, "kind": "images", "image_size": 8})


def test_a_subsample_has_a_sample_for_each_cluster(tmp_path):
    with pytest.raises(InputError, match=r"mine: n_samples=3 should be >= n_clusters=4"):
        prepare(tmp_path, block("tensors_of_ten", n_clusters=4), subsample=3)


def tensors_of_ten():
    return torch.eye(10), None


def channels_first():
    return np.zeros((6, 3, 8, 8)), None


def dataset():
    return torch.utils.data.TensorDataset(torch.zeros(6, 2)), None


def with_gradient():
    return torch.ones(4, 2, requires_grad=True), None


def large():
    return np.array([[0, 50], [100, 25]]), None


def test_channels_first_and_a_dataset_of_pytorch_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"channels_first': shape \(6, 3, 8, 8\) seems .*np.moveaxis"):
        prepare(tmp_path, block("channels_first", "images"))
    with pytest.raises(InputError, match="dataset' should return X as an array; it returns a TensorDataset"):
        prepare(tmp_path, block("dataset"))


def test_a_tensor_that_requires_gradients_is_read_and_rows_are_scaled(tmp_path):
    assert prepare(tmp_path, block("with_gradient"))[0].tolist() == [[1, 1]] * 4
    assert prepare(tmp_path, block("large"))[0].tolist() == [[0, 1], [1, 0]]
    assert prepare(tmp_path, block("large", scaling="none"))[0].max() == 100
    with pytest.raises(InputError, match="scaling='standard' should be left out"):
        own_dataset("mine", block("images", "images", n_clusters=2, scaling="standard"))


def objects():
    return np.ones((4, 2)), np.array(["b", "a", None, "b"], dtype=object)


def frame():
    import pandas as pd

    return pd.DataFrame({"width": [1.0, 2.0, 3.0], "height": [4.0, 5.0, 6.0]}), None


def test_texts_of_any_form_are_labels_and_columns_of_a_frame_keep_their_names(tmp_path):
    assert prepare(tmp_path, block("objects"))[1].tolist() == [1, 0, -1, 1]
    assert prepare(tmp_path, block("frame"))[2]["features"] == ["width", "height"]


def bfloat16():
    return torch.eye(4).to(torch.bfloat16), None


def objects_of_numbers():
    return np.array([[1, True], [2.5, None]], dtype=object)[:, :1], None


def of_texts():
    import pandas as pd

    return pd.DataFrame({"width": [1.0, 2.0], "colour": ["red", "blue"]}), None


def masked():
    return np.ma.masked_less(np.array([[1.0, -1.0], [2.0, 3.0]]), 0), None


def test_numbers_of_types_that_numpy_lacks_are_read_and_others_refused_by_name(tmp_path):
    assert prepare(tmp_path, block("bfloat16"))[0].tolist() == np.eye(4).tolist()
    assert prepare(tmp_path, block("objects_of_numbers"))[0].tolist() == [[1], [2.5]]
    with pytest.raises(InputError, match=r"of_texts': values of type object should be numbers: .*colour \("):
        prepare(tmp_path, block("of_texts"))
    with pytest.raises(InputError, match=r"masked': the value at \[0, 1\] is not a finite number"):
        prepare(tmp_path, block("masked"))
