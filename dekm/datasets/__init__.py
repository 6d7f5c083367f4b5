"""The rows of Table II and the embedded datasets. A new dataset is one loader and one row here."""

from dekm.datasets.dataset import Dataset
from dekm.datasets.download import RawFile

MNIST_URLS = (
    "https://ossci-datasets.s3.amazonaws.com/mnist/",
    "https://storage.googleapis.com/cvdf-datasets/mnist/",
)


def _mnist_file(name: str, sha256: str, content_sha256: str) -> RawFile:
    urls = tuple(base + name for base in MNIST_URLS)
    return RawFile(f"mnist/{name}", urls, sha256, content_sha256)


DATASETS: dict[str, Dataset] = {
    "digits": Dataset(
        label="digits",
        kind="images",
        n_samples=1797,
        n_clusters=10,
        shape=(8, 8, 1),
        loader="dekm.datasets.images:digits",
        licence="CC BY 4.0 (UCI, Optical Recognition of Handwritten Digits)",
        class_counts=(178, 182, 177, 183, 181, 182, 181, 179, 174, 180),
    ),
    "topics": Dataset(
        label="topics",
        kind="text",
        n_samples=2000,
        n_clusters=4,
        shape=(2000,),
        loader="dekm.datasets.text:topics",
        licence="drawn by this package",
    ),
    "mnist": Dataset(
        label="MNIST",
        kind="images",
        n_samples=70_000,
        n_clusters=10,
        shape=(28, 28, 1),
        loader="dekm.datasets.images:mnist",
        licence="CC BY-SA 3.0",
        raw=(
            _mnist_file(
                "train-images-idx3-ubyte.gz",
                "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
                "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
            ),
            _mnist_file(
                "train-labels-idx1-ubyte.gz",
                "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
                "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
            ),
            _mnist_file(
                "t10k-images-idx3-ubyte.gz",
                "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
                "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
            ),
            _mnist_file(
                "t10k-labels-idx1-ubyte.gz",
                "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
                "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
            ),
        ),
        class_counts=(6903, 7877, 6990, 7141, 6824, 6313, 6876, 7293, 6825, 6958),
    ),
}
