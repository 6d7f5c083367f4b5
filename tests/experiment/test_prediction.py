import csv
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from scipy import sparse

from dekm import DEKM, Autoencoder, KMeans
from dekm.cli import main
from dekm.datasets import prepared
from dekm.datasets.tfidf import Texts
from dekm.datasets.user.own import own_dataset
from dekm.errors import InputError
from dekm.experiment.prediction import write_predictions
from dekm.figures import runs
from dekm.files import read_json
from dekm.files.samples import StoredSamples, write_samples
from tests.helpers.own_data import save_image
from tests.helpers.prepared_files import files
from tests.helpers.upstream import write

pytestmark = pytest.mark.usefixtures("restored_logging")

WORDS = ("cats purring kittens", "engines driving wheels", "planets orbiting stars")
OPTIONS = [{}, {"stem": "true", "scaling": "paper"}]


def documents(n, seed=0):
    """Texts of three topics with some words in common."""
    rng = np.random.default_rng(seed)
    vocabularies = [f"{words} the and of with".split() for words in WORDS]
    return [" ".join(rng.choice(vocabularies[i % 3], 12)) for i in range(n)]


def write_texts(folder, texts):
    for i, text in enumerate(texts):
        write(folder / f"{i:03}.txt", text.encode())
    return folder


def write_table(file, texts):
    return write(file, "\n".join(["id,text", *(f"{i},{text}" for i, text in enumerate(texts))]).encode())


def settings(**given):
    return [part for name, value in given.items() for part in ("--set", f"{name}={value}")]


def prepare(results, path, **given):
    place = ["--raw-dir", str(results), "--results", str(results)]
    assert main(["prepare", "mine", *place, *settings(path=path, n_clusters=3, **given)]) == 0


def cluster(results, method, architecture="mlp"):
    """The folder of a run with a tiny network."""
    common = ["--results", str(results), "--seeds", "0", "--device", "cpu"]
    small = {"k_means": {}, "dekm": {"max_iter": 2, "tol": 1}}[method]
    if method == "dekm":
        sizes = {"mlp": {"hidden": [16, 8]}, "conv": {"channels": [4, 4, 8]}}[architecture]
        assert main(["pretrain", "mine", architecture, *common, *settings(**sizes, n_epochs=3)]) == 0
    assert main(["cluster", "mine", method, *common, *settings(**small)]) == 0
    return results / "runs/mine" / method / "seed0"


def predict(run, out, **given):
    write_predictions(run, given, out, device="cpu")
    with out.open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    return [row["sample"] for row in rows], [int(row["cluster"]) for row in rows]


@pytest.mark.parametrize("method", ["k_means", "dekm"])
@pytest.mark.parametrize("options", OPTIONS, ids=["words", "stems"])
def test_the_texts_of_a_run_get_the_labels_of_the_run(tmp_path, method, options):
    folder = write_texts(tmp_path / "texts", documents(60))
    prepare(tmp_path, folder, **options)
    run = cluster(tmp_path, method)
    samples, clusters = predict(run, tmp_path / "out.csv", path=str(folder))
    assert samples[:2] == [str(folder / "000.txt"), str(folder / "001.txt")]
    assert clusters == np.load(run / "labels.npy").tolist()
    assert len(set(clusters)) == 3


@pytest.mark.parametrize("options", OPTIONS, ids=["words", "stems"])
def test_new_texts_in_a_column_get_the_clusters_of_texts_like_them(tmp_path, options):
    file = write_table(tmp_path / "old.csv", documents(60))
    prepare(tmp_path, file, text_column="text", **options)
    run = cluster(tmp_path, "k_means")
    new = [*documents(9, seed=1), "unheard words alone", ""]
    samples, clusters = predict(run, tmp_path / "out.csv", path=str(write_table(tmp_path / "new.csv", new)))
    as_files = write_texts(tmp_path / "new", new)
    assert predict(run, tmp_path / "out.csv", path=str(as_files))[1] == clusters
    assert samples == [str(i) for i in range(11)]
    assert clusters[:9] == np.load(run / "labels.npy")[:9].tolist()


def test_the_rows_of_texts_are_the_same_bits_among_other_texts(tmp_path):
    texts = documents(40)
    prepare(tmp_path, write_texts(tmp_path / "texts", texts))
    X, _, facts = prepared.load(**files(tmp_path / "data/mine"))
    terms = prepared.load_terms(**files(tmp_path / "data/mine"), digest=facts["digest"])
    few = Texts(texts[7:9], False, "unit").rows(terms)
    np.testing.assert_array_equal(few.toarray(), X[7:9].toarray())


def test_the_prepared_file_of_texts_is_the_same_bytes_each_time(tmp_path):
    folder = write_texts(tmp_path / "texts", documents(20))
    for results in (tmp_path / "a", tmp_path / "b"):
        prepare(results, folder)
    contents = [(tmp_path / name / "data/mine/data.npz").read_bytes() for name in "ab"]
    assert contents[0] == contents[1]


def test_prepared_texts_without_terms_are_named(tmp_path):
    folder = write_texts(tmp_path / "texts", documents(30))
    prepare(tmp_path, folder)
    run = cluster(tmp_path, "k_means")
    X, y, _ = prepared.load(**files(tmp_path / "data/mine"))
    write_samples(tmp_path / "data/mine/data.npz", StoredSamples(X, y))
    with pytest.raises(InputError, match=r"mine/data\.npz has no terms: 'python -m dekm prepare' stores"):
        predict(run, tmp_path / "out.csv", path=str(folder))
    prepare(tmp_path, folder)
    assert len(predict(run, tmp_path / "out.csv", path=str(folder))[1]) == 30


def test_terms_of_other_texts_than_those_of_the_run_are_refused(tmp_path):
    folder = write_texts(tmp_path / "texts", documents(30))
    prepare(tmp_path, folder)
    run = cluster(tmp_path, "k_means")
    write(folder / "000.txt", b"something else")
    prepare(tmp_path, folder)
    with pytest.raises(InputError, match=r"mine/data\.npz is not the data of the run"):
        predict(run, tmp_path / "out.csv", path=str(folder))


@pytest.mark.parametrize("option", [{"stem": True}, {"scaling": "paper"}])
def test_new_texts_cannot_be_stemmed_or_scaled_otherwise(tmp_path, option):
    folder = write_texts(tmp_path / "texts", documents(30))
    prepare(tmp_path, folder)
    run = cluster(tmp_path, "k_means")
    with pytest.raises(InputError, match=f"{next(iter(option))}=.* should be left out"):
        predict(run, tmp_path / "out.csv", path=str(folder), **option)


def test_a_run_is_found_from_any_working_directory(tmp_path, monkeypatch):
    folder = write_texts(tmp_path / "texts", documents(30))
    prepare(tmp_path, folder)
    run = cluster(tmp_path, "k_means")
    monkeypatch.chdir(run.parent)
    assert len(predict(Path(run.name), tmp_path / "out.csv", path=str(folder))[1]) == 30


def test_columns_of_a_new_table_are_found_by_their_names(tmp_path, caplog):
    rows = [(i % 3 * 50 + i / 100, i % 3 * -9 + i / 50) for i in range(30)]
    write(tmp_path / "old.csv", ("height,weight\n" + "".join(f"{a},{b}\n" for a, b in rows)).encode())
    write(tmp_path / "new.csv", ("weight,age,height\n" + "".join(f"{b},7,{a}\n" for a, b in rows)).encode())
    write(tmp_path / "short.csv", b"weight,age\n1,2\n")
    prepare(tmp_path, tmp_path / "old.csv")
    run = cluster(tmp_path, "k_means")
    old = predict(run, tmp_path / "out.csv", path=str(tmp_path / "old.csv"))
    new = predict(run, tmp_path / "out.csv", path=str(tmp_path / "new.csv"))
    assert old[1] == new[1]
    with pytest.raises(
        InputError, match=r"short\.csv lacks 1 of the 2 features of the run: height; it has weight\."
    ):
        predict(run, tmp_path / "out.csv", path=str(tmp_path / "short.csv"))


def test_a_column_without_a_name_is_refused(tmp_path):
    file = write(tmp_path / "indexed.csv", b",height\n0,3.5\n1,4.5\n")
    with pytest.raises(InputError, match=r"column 1 has no name\. If it numbers the rows, remove it"):
        own_dataset("mine", {"path": str(file), "n_clusters": 2}).load(tmp_path)


def test_images_whose_names_are_not_utf_8_are_clustered_and_predicted(tmp_path):
    folder = tmp_path / "faces"
    for i in range(12):
        save_image(folder / os.fsdecode(b"\xe9%d.png" % i), (4, 4), 255 * (i % 3) // 2, mode="L")
    prepare(tmp_path, folder, channels=1)
    run = cluster(tmp_path, "k_means")
    samples, clusters = predict(run, tmp_path / "out.csv", path=str(folder))
    assert samples[0].endswith(r"\udce90.png")
    assert len(clusters) == 12


def test_a_file_name_that_starts_like_a_formula_stays_text(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    prepare(tmp_path, write_texts(tmp_path / "=texts", documents(30)))
    samples, _ = predict(cluster(tmp_path, "k_means"), tmp_path / "out.csv", path="=texts")
    assert samples[0] == "'=texts/000.txt"


def test_predictions_have_the_columns_and_values_of_the_clusters_of_a_run(tmp_path):
    folder = tmp_path / "texts"
    for i, text in enumerate(documents(30)):
        write(folder / "abc"[i % 3] / f"{i:03}.txt", text.encode())
    prepare(tmp_path, folder)
    run = cluster(tmp_path, "k_means")
    write_predictions(run, {"path": str(folder)}, tmp_path / "out.csv", device="cpu")
    assert (tmp_path / "out.csv").read_text() == (run / "clusters.csv").read_text()
    assert (tmp_path / "out.csv").read_text().startswith("row,sample,class,cluster,distance,margin\n0,")


@pytest.fixture
def faces(tmp_path):
    """A folder of images of three patterns, and their pixels."""
    rng = np.random.default_rng(0)
    patterns = rng.integers(0, 256, (3, 4, 4))
    pixels = np.clip(patterns[np.arange(24) % 3] + rng.normal(0, 9, (24, 4, 4)), 0, 255).astype(np.uint8)
    for i, image in enumerate(pixels):
        (tmp_path / "faces").mkdir(exist_ok=True)
        Image.fromarray(image).save(tmp_path / f"faces/{i:02}.png")
    return tmp_path / "faces", pixels


@pytest.mark.filterwarnings("ignore:The .*embedding ha. collapsed")  # of a tiny network
@pytest.mark.parametrize("method", ["k_means", "dekm"])
def test_a_model_of_the_pipeline_agrees_with_predict_whatever_the_type_of_the_pixels(faces, tmp_path, method):
    folder, pixels = faces
    prepare(tmp_path, folder, channels=1)
    run = cluster(tmp_path, method, "conv")
    model = {"k_means": KMeans, "dekm": DEKM}[method].load(run / "model.safetensors", device="cpu")
    expected = predict(run, tmp_path / "out.csv", path=str(folder))[1]
    assert expected == np.load(run / "labels.npy").tolist()
    for X in (pixels, pixels.astype(np.int32), pixels / 255, (pixels / 255).astype(np.float32)):
        np.save(tmp_path / "x.npy", X)
        assert model.predict(X).tolist() == expected
        assert predict(run, tmp_path / "out.csv", path=str(tmp_path / "x.npy"))[1] == expected
    np.save(tmp_path / "x.npy", pixels.astype(np.float32))
    with pytest.raises(InputError, match="divide X by 255"):
        predict(run, tmp_path / "out.csv", path=str(tmp_path / "x.npy"))


@pytest.mark.parametrize("scaling", ["auto", "standard", "none"])
@pytest.mark.parametrize("method", ["k_means", "dekm"])
def test_new_rows_are_scaled_as_the_table_of_the_run(tmp_path, method, scaling):
    rng = np.random.default_rng(0)
    rows = np.array([[0, 900], [50, 0], [100, 500]])[np.arange(30) % 3] + rng.normal(size=(30, 2))
    np.save(tmp_path / "x.npy", rows)
    prepare(tmp_path, tmp_path / "x.npy", scaling=scaling)
    run = cluster(tmp_path, method)
    labels = np.load(run / "labels.npy")
    np.save(tmp_path / "few.npy", rows[4:7])
    assert predict(run, tmp_path / "out.csv", path=str(tmp_path / "few.npy"))[1] == labels[4:7].tolist()
    model = {"k_means": KMeans, "dekm": DEKM}[method].load(run / "model.safetensors", device="cpu")
    assert model.predict(rows).tolist() == labels.tolist()
    np.testing.assert_array_equal(model.transform(rows), np.load(run / "embedding.npy"))
    if method == "dekm":
        autoencoder = Autoencoder.load(tmp_path / "pretrained/mine/mlp/seed0/autoencoder.safetensors")
        np.testing.assert_array_equal(autoencoder.transform(rows), model.autoencoder_.transform(rows))
    with pytest.raises(InputError, match="scaling='none' should be left out: the setting of the run's own"):
        predict(run, tmp_path / "out.csv", path=str(tmp_path / "few.npy"), scaling="none")


def test_an_index_and_ignored_columns_play_no_part_in_new_tables(tmp_path):
    frame = pd.DataFrame(
        {"name": list("pq") * 15, "a": np.arange(30) % 3 * 5.0, "b": np.arange(30) % 3 * 4.0}
    )
    frame.sample(frac=1, random_state=0).to_parquet(tmp_path / "old.parquet")
    prepare(tmp_path, tmp_path / "old.parquet", ignore_columns='["name"]')
    run = cluster(tmp_path, "k_means")
    new = frame[["b", "a"]].assign(note="x").set_index(pd.Index(np.arange(30) * 100, name="id"))
    new.to_parquet(tmp_path / "new.parquet")
    clusters = predict(run, tmp_path / "out.csv", path=str(tmp_path / "new.parquet"))[1]
    assert len(set(clusters)) == 3
    assert clusters == clusters[:3] * 10
    assert predict(run, tmp_path / "out.csv", path=str(tmp_path / "old.parquet"))[1] == (
        np.load(run / "labels.npy").tolist()
    )


def test_new_data_of_another_kind_are_named(faces, tmp_path):
    prepare(tmp_path, faces[0], channels=1)
    run = cluster(tmp_path, "k_means")
    table = write(tmp_path / "x.csv", b"a,b\n1,2\n")
    with pytest.raises(
        InputError, match=r"x\.csv' holds rows of numbers, but the run was made with images\."
    ):
        predict(run, tmp_path / "out.csv", path=str(table))
    text = write_texts(tmp_path / "texts", ["a", "b"])
    with pytest.raises(InputError, match="holds texts, but the run was made with images"):
        predict(run, tmp_path / "out.csv", path=str(text))


def test_a_table_without_a_text_column_is_no_text(tmp_path):
    prepare(tmp_path, write_texts(tmp_path / "texts", documents(30)))
    run = cluster(tmp_path, "k_means")
    new = write_table(tmp_path / "new.csv", documents(6))
    with pytest.raises(InputError, match="the run was made with texts; name their column in text_column"):
        predict(run, tmp_path / "out.csv", path=str(new))
    assert len(predict(run, tmp_path / "out.csv", path=str(new), text_column="text")[1]) == 6


def test_damaged_images_that_are_left_out_get_no_cluster(faces, tmp_path):
    prepare(tmp_path, faces[0], channels=1, skip_damaged="true")
    run = cluster(tmp_path, "k_means")
    write(faces[0] / "03.png", b"")
    samples, clusters = predict(run, tmp_path / "out.csv", path=str(faces[0]))
    assert [Path(name).name for name in samples[:4]] == ["00.png", "01.png", "02.png", "04.png"]
    assert len(clusters) == 23


def test_the_home_folder_may_be_written_as_a_tilde(faces, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    prepare(tmp_path, "~/faces", channels=1)
    run = cluster(tmp_path, "k_means")
    samples, _ = predict(run, tmp_path / "out.csv", path="~/faces")
    assert samples[0] == str(tmp_path / "faces/00.png")


def test_predict_prints_how_the_new_samples_are_spread_and_which_are_unlike_the_others(tmp_path, capsys):
    rows = np.repeat(np.eye(3) * 5, 10, axis=0) + np.random.default_rng(0).normal(0, 0.1, (30, 3))
    np.save(tmp_path / "x.npy", rows)
    prepare(tmp_path, tmp_path / "x.npy")
    run = cluster(tmp_path, "k_means")
    np.save(tmp_path / "new.npy", np.vstack([rows[:2], rows[12:13], [[9, 9, 9], [-7, 0, 0]]]))
    out = tmp_path / "out.csv"
    capsys.readouterr()
    assert main(["predict", str(run), "--out", str(out), *settings(path=tmp_path / "new.npy")]) == 0
    line = capsys.readouterr().out
    assert line.startswith(f"5 samples, written to {out}; by cluster ")
    assert line.endswith("; 2 farther from every center than 99.9% of the training samples.\n")


def test_predict_counts_texts_without_known_terms(tmp_path, capsys):
    folder = write_texts(tmp_path / "texts", documents(30))
    prepare(tmp_path, folder)
    run = cluster(tmp_path, "k_means")
    write(folder / "a.txt", b"unheard")
    write(folder / "b.txt", b"")
    out = ["--out", str(tmp_path / "out.csv")]
    assert main(["predict", str(run), *out, *settings(path=folder)]) == 0
    assert "; 2 empty or without a term of the run." in capsys.readouterr().out


def test_new_data_may_have_another_format_than_those_of_the_run(tmp_path):
    rows = np.repeat(np.eye(3) * 50, 10, axis=0) + np.random.default_rng(0).normal(0, 1, (30, 3))
    np.savez(tmp_path / "old.npz", train=rows, notes=np.zeros(3))
    prepare(tmp_path, tmp_path / "old.npz", array="train")
    run = cluster(tmp_path, "k_means")
    labels = np.load(run / "labels.npy").tolist()
    np.save(tmp_path / "new.npy", rows)
    np.savez(tmp_path / "new.npz", test=rows, notes=np.zeros(3))
    assert predict(run, tmp_path / "out.csv", path=str(tmp_path / "old.npz"))[1] == labels
    assert predict(run, tmp_path / "out.csv", path=str(tmp_path / "new.npy"))[1] == labels
    assert predict(run, tmp_path / "out.csv", path=str(tmp_path / "new.npz"), array="test")[1] == labels


def groups(n=30, n_columns=3, seed=0):
    """Rows of three clear groups."""
    rng = np.random.default_rng(seed)
    return np.eye(3)[np.arange(n) % 3][:, :n_columns] * 50 + rng.normal(0, 1, (n, n_columns))


def load_log(path):
    """A loader of a user: counts as logarithms."""
    return np.log1p(np.load(path)), None


def load_new():
    return np.log1p(np.abs(groups())), None


def test_the_loader_of_a_run_has_to_be_named_and_loads_the_new_data(tmp_path):
    np.save(tmp_path / "x.npy", np.abs(groups()))
    loader = f"{__name__}:load_log"
    block = settings(path=tmp_path / "x.npy", loader=loader, kind="table", n_clusters=3)
    assert main(["prepare", "mine", "--raw-dir", str(tmp_path), "--results", str(tmp_path), *block]) == 0
    run = cluster(tmp_path, "k_means")
    with pytest.raises(
        InputError, match=f"made by {loader}, .* name it by --set loader={loader}, if you trust"
    ):
        predict(run, tmp_path / "out.csv", path=str(tmp_path / "x.npy"))
    labels = np.load(run / "labels.npy").tolist()
    given = {"path": str(tmp_path / "x.npy"), "loader": loader}
    assert predict(run, tmp_path / "out.csv", **given)[1] == labels
    assert predict(run, tmp_path / "out.csv", loader=f"{__name__}:load_new")[1] == labels


@pytest.mark.parametrize("scaling", ["auto", "counts"])
def test_genes_are_found_by_their_names(tmp_path, scaling, caplog):
    from tests.datasets.user.test_anndata_files import COUNTS, write_cells

    X = np.tile(COUNTS, (4, 1))
    write_cells(tmp_path / "old.h5ad", X)
    prepare(tmp_path, tmp_path / "old.h5ad", scaling=scaling)
    run = cluster(tmp_path, "k_means")
    labels = np.load(run / "labels.npy").tolist()
    model = KMeans.load(run / "model.safetensors", device="cpu")
    assert model.predict(pd.DataFrame(X, columns=[f"CD{i}" for i in range(6)])).tolist() == labels
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        assert model.predict(sparse.csr_matrix(X)).tolist() == labels
    order = np.array([3, 0, 5, 1, 4, 2])
    import h5py

    for genes in (order, np.append(order, 6)):
        wider = np.column_stack([X, X[:, 0]])
        write_cells(tmp_path / "new.h5ad", wider[:, genes])
        with h5py.File(tmp_path / "new.h5ad", "r+") as opened:
            del opened["var/_index"]
            opened["var/_index"] = [f"CD{gene}".encode() for gene in genes]
        samples, clusters = predict(run, tmp_path / "out.csv", path=str(tmp_path / "new.h5ad"))
        assert clusters == labels
        assert samples[1] == "AAAC1-1"
    assert "1 columns are ignored, the run was made without them: CD6" in caplog.text
    write_cells(tmp_path / "few.h5ad", X[:, :4])
    with pytest.raises(
        InputError, match=r"few\.h5ad lacks 2 of the 6 features of the run: CD4, CD5; it has CD0"
    ):
        predict(run, tmp_path / "out.csv", path=str(tmp_path / "few.h5ad"))


def test_names_of_columns_travel_with_the_model(tmp_path):
    frame = pd.DataFrame(groups(), columns=["a", "b", "c"])
    frame.to_csv(tmp_path / "x.csv", index=False)
    prepare(tmp_path, tmp_path / "x.csv")
    run = cluster(tmp_path, "k_means")
    model = KMeans.load(run / "model.safetensors", device="cpu")
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    assert model.predict(frame).tolist() == np.load(run / "labels.npy").tolist()
    with pytest.raises(
        InputError, match=r"(?s)same order as they were in fit.* Pass X\[model\.feature_names_in_\]"
    ):
        model.predict(frame[["c", "a", "b"]])
    with pytest.raises(InputError, match=r"(?s)yet now missing.*- c"):
        model.predict(frame[["a", "b"]])


def test_names_of_samples_are_in_the_tables_of_clusters(tmp_path):
    frame = pd.DataFrame(groups(), columns=["a", "b", "c"]).assign(well=[f"A{i}" for i in range(30)])
    frame.to_csv(tmp_path / "x.csv", index=False)
    prepare(tmp_path, tmp_path / "x.csv", name_column="well")
    run = cluster(tmp_path, "k_means")
    with (run / "clusters.csv").open(newline="") as stream:
        assert [row["sample"] for row in csv.DictReader(stream)] == frame["well"].tolist()
    assert predict(run, tmp_path / "out.csv", path=str(tmp_path / "x.csv"))[0] == frame["well"].tolist()
    frame.drop(columns="well").to_csv(tmp_path / "new.csv", index=False)
    assert predict(run, tmp_path / "out.csv", path=str(tmp_path / "new.csv"))[0][:2] == ["0", "1"]


def test_values_of_a_category_are_those_of_the_run(tmp_path, caplog):
    frame = pd.DataFrame(
        {"a": groups()[:, 0], "colour": np.array(["red", "blue", "green"])[np.arange(30) % 3]}
    )
    frame.to_csv(tmp_path / "x.csv", index=False)
    prepare(tmp_path, tmp_path / "x.csv", categories='["colour"]')
    run = cluster(tmp_path, "k_means")
    labels = np.load(run / "labels.npy").tolist()
    frame[frame["colour"] != "blue"].to_csv(tmp_path / "new.csv", index=False)
    found = predict(run, tmp_path / "out.csv", path=str(tmp_path / "new.csv"))[1]
    assert found == [label for i, label in enumerate(labels) if i % 3 != 1]
    frame.replace("blue", "pink").to_csv(tmp_path / "new.csv", index=False)
    predict(run, tmp_path / "out.csv", path=str(tmp_path / "new.csv"))
    assert "column colour: the run was made without the values pink" in caplog.text


def test_partly_labelled_data_are_all_clustered_and_scored_where_they_have_labels(tmp_path, capsys):
    kinds = np.array(["x", "y", "z"])[np.arange(30) % 3]
    kinds[9:] = ""
    frame = pd.DataFrame(groups(), columns=["a", "b", "c"]).assign(kind=kinds)
    frame.to_csv(tmp_path / "x.csv", index=False)
    prepare(tmp_path, tmp_path / "x.csv", label_column="kind")
    run = cluster(tmp_path, "k_means")
    assert read_json(run / "metrics.json")["acc"] == 1
    assert read_json(run / "metrics.json")["f1"] == 1
    with (run / "clusters.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["class"] for row in rows] == kinds.tolist()
    runs.write([run], tmp_path / "figures")
    confusion = (tmp_path / "figures/confusion.csv").read_text().splitlines()
    assert [line.split(",")[0] for line in confusion] == ["class", "x", "y", "z"]
    capsys.readouterr()
    out = ["--out", str(tmp_path / "out.csv")]
    assert main(["predict", str(run), *out, *settings(path=tmp_path / "x.csv", label_column="kind")]) == 0
    assert "; ACC 100.0, NMI 100.0, ARI 100.0 of 9 with a label." in capsys.readouterr().out


@pytest.mark.filterwarnings("ignore:The .*embedding ha. collapsed")  # of a tiny network
@pytest.mark.parametrize("method", ["k_means", "dekm"])
def test_images_of_sixteen_bits_are_scaled_as_those_of_the_run(tmp_path, method):
    rng = np.random.default_rng(0)
    pixels = (
        rng.integers(500, 40_000, (3, 8, 8))[np.arange(24) % 3] + rng.integers(0, 300, (24, 8, 8))
    ).astype("u2")
    for folder, images in (("old", pixels), ("new", pixels[:5])):
        (tmp_path / folder).mkdir()
        for i, image in enumerate(images):
            Image.fromarray(image).save(tmp_path / f"{folder}/{i:02}.tif")
    prepare(tmp_path, tmp_path / "old", channels=1)
    run = cluster(tmp_path, method, "conv")
    labels = np.load(run / "labels.npy").tolist()
    assert predict(run, tmp_path / "out.csv", path=str(tmp_path / "new"))[1] == labels[:5]
    np.save(tmp_path / "x.npy", pixels)
    assert predict(run, tmp_path / "out.csv", path=str(tmp_path / "x.npy"))[1] == labels
    model = {"k_means": KMeans, "dekm": DEKM}[method].load(run / "model.safetensors", device="cpu")
    assert model.predict(pixels).tolist() == labels
    np.save(tmp_path / "x.npy", (pixels // 256).astype(np.uint8))
    with pytest.warns(UserWarning, match="X holds values up to 156, and the model was fitted on values from"):
        predict(run, tmp_path / "out.csv", path=str(tmp_path / "x.npy"))
    np.save(tmp_path / "x.npy", pixels / 65_535)
    with pytest.raises(InputError, match=r"values in \[0, 1\], but the model was fitted on values from"):
        predict(run, tmp_path / "out.csv", path=str(tmp_path / "x.npy"))


@pytest.mark.parametrize("method", ["k_means", "dekm"])
def test_times_in_milliseconds_keep_their_digits(tmp_path, method):
    rows = groups() + 1.7e12
    pd.DataFrame(rows, columns=["a", "b", "c"]).to_csv(tmp_path / "x.csv", index=False)
    prepare(tmp_path, tmp_path / "x.csv")
    run = cluster(tmp_path, method)
    labels = np.load(run / "labels.npy").tolist()
    if method == "k_means":
        assert labels == labels[:3] * 10
        assert len(set(labels)) == 3
    assert predict(run, tmp_path / "out.csv", path=str(tmp_path / "x.csv"))[1] == labels
    model = {"k_means": KMeans, "dekm": DEKM}[method].load(run / "model.safetensors", device="cpu")
    assert model.predict(pd.DataFrame(rows, columns=["a", "b", "c"])).tolist() == labels
