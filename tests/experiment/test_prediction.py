import csv
import os
from pathlib import Path

import numpy as np
import pytest

from dekm.cli import main
from dekm.datasets import prepared
from dekm.datasets.tfidf import Texts
from dekm.datasets.user.own import own_dataset
from dekm.errors import InputError
from dekm.experiment.prediction import write_predictions
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


def cluster(results, method):
    """The folder of a run with a tiny network."""
    common = ["--results", str(results), "--seeds", "0", "--device", "cpu"]
    small = {"k_means": {}, "dekm": {"max_iter": 2, "tol": 1}}[method]
    if method == "dekm":
        assert main(["pretrain", "mine", "mlp", *common, *settings(hidden=[16, 8], n_epochs=3)]) == 0
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
    prepared.save(X, y, tmp_path / "data/mine/data.npz")
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
    with pytest.raises(InputError, match=r"short\.csv lacks the columns \['height'\]; the run was made with"):
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
