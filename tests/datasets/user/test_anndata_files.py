"""Files of AnnData: cells by genes, with their names, and what an untrusted one may hold."""

import h5py
import numpy as np
import pytest
from scipy import sparse

from dekm.errors import InputError
from dekm.results.data import PreparedData
from tests.helpers.own_data import prepare

COUNTS = np.random.default_rng(0).poisson(0.3, (8, 6)).astype(np.float32)
COUNTS[:, 1] = 1
COUNTS[:, 0] += 20 * (np.arange(8) % 2)
COUNTS[0, 5] = 30


def write_cells(file, X=COUNTS, *, layers=(), form="csr_matrix"):
    """A file of AnnData with the names of its cells and genes."""
    with h5py.File(file, "w") as opened:
        for name in ("X", *(f"layers/{layer}" for layer in layers)):
            group = opened.create_group(name)
            matrix = (sparse.csr_matrix if form == "csr_matrix" else sparse.csc_matrix)(X)
            group.attrs.update({"encoding-type": form, "encoding-version": "0.1.0", "shape": X.shape})
            for part in ("data", "indices", "indptr"):
                group[part] = getattr(matrix, part)
        for axis, names in (("obs", cells(len(X))), ("var", genes(X.shape[1]))):
            frame = opened.create_group(axis)
            frame.attrs.update(
                {"encoding-type": "dataframe", "_index": "barcode" if axis == "obs" else "_index"}
            )
            frame[frame.attrs["_index"]] = [name.encode() for name in names]
        kinds = opened.create_group("obs/kind")
        kinds.attrs["encoding-type"] = "categorical"
        kinds["codes"] = np.array([0, 1] * (len(X) // 2 - 1) + [-1, 1], np.int8)
        kinds["categories"] = [b"B cell", b"T cell"]
        opened["obsm/X_pca"] = X[:, :2]
    return file


def cells(n):
    return [f"AAAC{i}-1" for i in range(n)]


def genes(n):
    return [f"CD{i}" for i in range(n)]


@pytest.mark.parametrize("form", ["csr_matrix", "csc_matrix"])
@pytest.mark.parametrize("array", ["X", "layers/counts"])
def test_cells_and_genes_keep_their_names(tmp_path, form, array):
    write_cells(tmp_path / "a.h5ad", layers=["counts"], form=form)
    block = {"path": str(tmp_path / "a.h5ad"), "array": array, "label_array": "obs/kind", "scaling": "counts"}
    X, y, facts = prepare(tmp_path, block)
    totals = COUNTS.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(X.toarray(), np.log1p(COUNTS / totals * 1e4), rtol=1e-5)
    assert (y.tolist(), facts["class_names"]) == ([0, 1] * 3 + [-1, 1], ["B cell", "T cell"])
    assert facts["features"] == genes(6)
    data = PreparedData(tmp_path / "prepared")
    assert data.samples().files.tolist() == cells(8)
    assert data.samples().classes.tolist() == ["B cell", "T cell"] * 3 + ["", "T cell"]
    np.testing.assert_array_equal(data.vectors().X.toarray(), X.toarray())


def test_counts_are_told_and_the_principal_components_are_read(tmp_path, caplog):
    file = write_cells(tmp_path / "a.h5ad")
    assert prepare(tmp_path, {"path": str(file)})[2]["scaling"]["kind"] == "minmax"
    assert "look like raw counts of single cells" in caplog.text
    assert "scaling: counts" in caplog.text
    assert "array: obsm/X_pca" in caplog.text
    X, _, facts = prepare(tmp_path, {"path": str(file), "array": "obsm/X_pca", "scaling": "none"})
    np.testing.assert_array_equal(X, COUNTS[:, :2])
    assert facts["features"] is None


def test_genes_of_one_name_are_told_apart(tmp_path, caplog):
    caplog.set_level("INFO")
    write_cells(tmp_path / "a.h5ad")
    with h5py.File(tmp_path / "a.h5ad", "r+") as opened:
        opened["var/_index"][1] = b"CD0"
        opened["var/_index"][2] = b"CD0-1"
    facts = prepare(tmp_path, {"path": str(tmp_path / "a.h5ad")})[2]
    assert facts["features"] == ["CD0", "CD0-2", "CD0-1", "CD3", "CD4", "CD5"]
    assert "mine: 6 features: CD0, CD0-2, CD0-1, CD3, CD4, CD5" in caplog.text


def group_of_codes(opened):
    del opened["obs/kind/codes"]
    opened.create_group("obs/kind/codes")


def group_of_categories(opened):
    del opened["obs/kind/categories"]
    opened.create_group("obs/kind/categories")


def missing_codes(opened):
    del opened["obs/kind/codes"]


def codes_beyond(opened):
    opened["obs/kind/codes"][0] = 7


def external_categories(opened):
    del opened["obs/kind/categories"]
    opened["obs/kind/categories"] = h5py.ExternalLink("secret.h5", "texts")


def stored_elsewhere(opened):
    del opened["obs/kind/categories"]
    opened.create_dataset("obs/kind/categories", (2,), "S6", external=[("secret.txt", 0, 12)])


def external_group(opened):
    del opened["obs/kind"]
    opened["obs/kind"] = h5py.ExternalLink("secret.h5", "/")


@pytest.mark.parametrize(
    "damage",
    [
        group_of_codes,
        group_of_categories,
        missing_codes,
        codes_beyond,
        external_categories,
        stored_elsewhere,
        external_group,
    ],
)
def test_categories_that_are_damaged_or_in_another_file_are_refused(tmp_path, damage, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with h5py.File("secret.h5", "w") as secret:
        secret["texts"] = [b"secret", b"secret"]
    (tmp_path / "secret.txt").write_bytes(b"secretsecret")
    write_cells(tmp_path / "a.h5ad")
    with h5py.File("a.h5ad", "r+") as opened:
        damage(opened)
    with pytest.raises(InputError, match=r"^[^\n]*a\.h5ad[^\n]*$") as caught:
        prepare(tmp_path, {"path": "a.h5ad", "label_array": "obs/kind"})
    assert "secretsecret" not in str(caught.value)


@pytest.mark.parametrize(
    ("member", "reason"), [("X/data", "'X/data' is a link"), ("X", "holds several arrays")]
)
def test_no_samples_of_another_file_are_read(tmp_path, member, reason, monkeypatch):
    monkeypatch.chdir(tmp_path)
    link_to_other_file(member)
    with pytest.raises(InputError, match=reason):
        prepare(tmp_path, {"path": "a.h5ad"})


@pytest.mark.parametrize(("member", "what"), [("obs/barcode", "names"), ("var", "features")])
def test_no_names_of_another_file_are_read(tmp_path, member, what, monkeypatch):
    monkeypatch.chdir(tmp_path)
    link_to_other_file(member)
    _, _, facts = prepare(tmp_path, {"path": "a.h5ad"})
    found = facts["features"] if what == "features" else PreparedData(tmp_path / "prepared").samples().files
    assert found is None


def link_to_other_file(member):
    """The files a.h5ad, and secret.h5ad to which a member of it is a link."""
    for name in ("secret.h5ad", "a.h5ad"):
        write_cells(name)
    with h5py.File("a.h5ad", "r+") as opened:
        del opened[member]
        opened[member] = h5py.ExternalLink("secret.h5ad", member)


def test_texts_of_r_in_utf_8_are_read(tmp_path):
    with h5py.File(tmp_path / "a.h5ad", "w") as opened:
        opened["X"] = COUNTS
        opened.create_group("obs").attrs["_index"] = np.bytes_("index")
        opened["obs/index"] = np.array([f"zélle{i}".encode() for i in range(8)])
        opened["obs/kind"] = np.array(["ä".encode(), "ö".encode()] * 4)
    prepare(tmp_path, {"path": str(tmp_path / "a.h5ad"), "label_array": "obs/kind"})
    samples = PreparedData(tmp_path / "prepared").samples()
    assert (samples.files[3], samples.classes[3]) == ("zélle3", "ö")


def test_an_array_that_claims_more_than_is_stored_is_refused(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as opened:
        opened.create_dataset("X", (10**6, 10**5), "f4", chunks=(1000, 100))
    with pytest.raises(InputError, match="larger than the 0 bytes stored for it"):
        prepare(tmp_path, {"path": str(tmp_path / "a.h5")})
