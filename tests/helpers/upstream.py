"""Small files in exactly the formats in which the datasets are published."""

import bz2
import gzip
import io
import struct
import tarfile
import zipfile

import h5py
import joblib
import numpy as np
from PIL import Image
from scipy import sparse

TOPIC_NAMES = np.array(["C11", "CCAT", "E12", "ECAT", "GCAT", "MCAT"], dtype=object)


def write(file, content):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    return file


def idx(values):
    header = struct.pack(f">BBBB{values.ndim}I", 0, 0, 8, values.ndim, *values.shape)
    return gzip.compress(header + values.astype(np.uint8).tobytes())


def libsvm(values, labels):
    lines = [
        f"{label} " + " ".join(f"{i + 1}:{v:.6f}" for i, v in enumerate(row) if v != 0)
        for row, label in zip(values, labels, strict=True)
    ]
    return bz2.compress("".join(line + "\n" for line in lines).encode())


def usps_digits(n, seed=0):
    """Grey values in [0, 1] as USPS has them, and labels 0..9."""
    rng = np.random.default_rng(seed)
    return rng.integers(0, 2001, size=(n, 256)) / 2000, np.arange(n) % 10


def write_usps_libsvm(raw_dir, train, test):
    for name, (values, labels) in (("usps", train), ("usps.t", test)):
        write(raw_dir / f"usps/{name}.bz2", libsvm(2 * values - 1, labels + 1))


def write_usps_hdf5(raw_dir, train, test):
    (raw_dir / "usps").mkdir(parents=True, exist_ok=True)
    with h5py.File(raw_dir / "usps/USPS.h5", "w") as file:
        for name, (values, labels) in (("train", train), ("test", test)):
            file[f"{name}/data"] = values.astype(np.float32)
            file[f"{name}/target"] = labels.astype(np.int32)


def png(pixels):
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "PNG")
    return stream.getvalue()


def coil_archive(file, images, method=zipfile.ZIP_STORED):
    """A zip archive of {(object, pose): pixels}."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(file, "w", method) as archive:
        for (number, pose), pixels in images.items():
            archive.writestr(f"coil-20-proc/obj{number}__{pose}.png", png(pixels))
    return file


def faces(file, data, labels):
    file.parent.mkdir(parents=True, exist_ok=True)
    with h5py.File(file, "w") as opened:
        opened["data"], opened["labels"] = data, labels
    return file


def mat73(file, **variables):
    """MATLAB's version 7.3: HDF5 behind a header of 512 bytes, arrays with their axes reversed."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with h5py.File(file, "w", userblock_size=512) as opened:
        for name, value in variables.items():
            opened[name] = np.asarray(value).T
            opened[name].attrs["MATLAB_class"] = np.bytes_("double")
    with file.open("r+b") as stream:
        stream.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(124) + b"\x00\x02IM")
    return file


def tokens(documents):
    """Lewis's token file of [(number, lines of stems)]."""
    blocks = [f".I {number}\n.W\n" + "".join(f"{line}\n" for line in lines) for number, lines in documents]
    return gzip.compress("\n".join(blocks).encode())


def qrels(topics):
    """Lewis's topic file of [(topic, document)]."""
    return gzip.compress("".join(f"{topic} {document} 1\n" for topic, document in topics).encode())


def posts(file, members):
    """A gzipped tar archive of {name: text}."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(file, "w:gz") as archive:
        for name, text in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text))
    return file


def rcv1_corpus(n=40, n_features=2100, seed=0):
    """Vectors, topic memberships and document numbers as scikit-learn orders them."""
    rng = np.random.default_rng(seed)
    X = sparse.random(n, n_features, density=0.1, format="csr", rng=rng)
    topics = np.zeros((n, len(TOPIC_NAMES)), np.uint8)
    topics[np.arange(n), [(1, 3, 4, 5)[i % 4] for i in range(n)]] = 1
    topics[:, 0] = topics[:, 1]
    return X, topics, np.arange(2286, 2286 + n, dtype=np.uint32)


def write_rcv1_cache(raw_dir, X, topics, documents):
    folder = raw_dir / "rcv1/RCV1"
    folder.mkdir(parents=True, exist_ok=True)
    parts = {
        "samples": X,
        "sample_id": documents,
        "sample_topics": sparse.csr_matrix(topics),
        "topics_names": TOPIC_NAMES,
    }
    for name, value in parts.items():
        joblib.dump(value, folder / f"{name}_py3.pkl", compress=3)


def write_rcv1_vectors(raw_dir, X, topics, documents):
    parts = ("train", "test_pt0", "test_pt1", "test_pt2", "test_pt3")
    for part, rows in zip(parts, np.array_split(np.arange(X.shape[0]), 5), strict=True):
        text = ""
        for i in rows:
            row = X[[i]]
            cells = " ".join(f"{c + 1}:{v!r}" for c, v in zip(row.indices, row.data.tolist(), strict=True))
            text += f"{documents[i]}  {cells}\n"
        write(raw_dir / f"rcv1/lyrl2004_vectors_{part}.dat.gz", gzip.compress(text.encode()))
    pairs = [(TOPIC_NAMES[t], documents[i]) for i, t in zip(*np.nonzero(topics), strict=True)]
    write(raw_dir / "rcv1/rcv1-v2.topics.qrels.gz", qrels(pairs))


def write_rcv1_rows(raw_dir, test, validation):
    for name, rows in (("test", test), ("validation", validation)):
        write(raw_dir / "rcv1_10k_index" / name, "".join(f"{row}\n" for row in rows).encode())
