"""The rows of Table II and the embedded datasets. A new dataset is one loader and one row here."""

from dekm.datasets.dataset import Dataset
from dekm.datasets.image_rows import COIL20, FRGC, MNIST, USPS
from dekm.datasets.text_rows import NEWS20, RCV1_10K, REUTERS10K

DIGITS = Dataset(
    label="digits",
    kind="images",
    n_samples=1797,
    n_clusters=10,
    shape=(8, 8, 1),
    loader="dekm.datasets.images:digits",
    licence="CC BY 4.0 (UCI, Optical Recognition of Handwritten Digits)",
    class_counts=(178, 182, 177, 183, 181, 182, 181, 179, 174, 180),
)

TOPICS = Dataset(
    label="topics",
    kind="text",
    n_samples=2000,
    n_clusters=4,
    shape=(2000,),
    loader="dekm.datasets.text:topics",
    licence="drawn by this package",
)

DATASETS: dict[str, Dataset] = {
    "digits": DIGITS,
    "topics": TOPICS,
    "mnist": MNIST,
    "usps": USPS,
    "coil20": COIL20,
    "frgc": FRGC,
    "reuters10k": REUTERS10K,
    "news20": NEWS20,
    "rcv1_10k": RCV1_10K,
}
