"""The rows of Table II, two embedded datasets and further usual ones; a new dataset is a loader and a row."""

from dekm.datasets.dataset import Dataset
from dekm.datasets.field.images import FASHION_MNIST, KMNIST, STL10
from dekm.datasets.field.vectors import HAR, LETTER, PENDIGITS
from dekm.datasets.paper.coil20 import COIL20
from dekm.datasets.paper.digits import DIGITS
from dekm.datasets.paper.frgc import FRGC
from dekm.datasets.paper.mnist import MNIST
from dekm.datasets.paper.news20 import NEWS20
from dekm.datasets.paper.rcv1 import RCV1_10K
from dekm.datasets.paper.reuters10k import REUTERS10K
from dekm.datasets.paper.topics import TOPICS
from dekm.datasets.paper.usps import USPS

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
    "fashion_mnist": FASHION_MNIST,
    "kmnist": KMNIST,
    "pendigits": PENDIGITS,
    "har": HAR,
    "letter": LETTER,
    "stl10": STL10,
}
