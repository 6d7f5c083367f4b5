"""The image datasets of Table II."""

from dekm.datasets.dataset import Dataset, Source
from dekm.datasets.raw_file import RawFile

MNIST_URLS = (
    "https://ossci-datasets.s3.amazonaws.com/mnist/",
    "https://storage.googleapis.com/cvdf-datasets/mnist/",
)
LIBSVM_URL = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/multiclass/"
COIL_PATH = "databases/SLAM_coil-20_coil-100/coil-20/coil-20-proc.zip"


def _mnist_file(name: str, sha256: str, content_sha256: str) -> RawFile:
    urls = tuple(base + name for base in MNIST_URLS)
    return RawFile(f"mnist/{name}", urls, sha256, content_sha256)


MNIST = Dataset(
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
)

USPS = Dataset(
    label="USPS",
    kind="images",
    n_samples=9298,
    n_clusters=10,
    shape=(16, 16, 1),
    loader="dekm.datasets.usps:from_libsvm",
    licence="none stated by its collectors",
    raw=(
        RawFile(
            "usps/usps.bz2",
            (LIBSVM_URL + "usps.bz2",),
            sha256="3771e9dd6ba685185f89867b6e249233dd74652389f263963b3b741e994b034f",
            md5="ec16c51db3855ca6c91edd34d0e9b197",
            content=None,
        ),
        RawFile(
            "usps/usps.t.bz2",
            (LIBSVM_URL + "usps.t.bz2",),
            sha256="a9c0164e797d60142a50604917f0baa604f326e9a689698763793fa5d12ffc4e",
            md5="8ea070ee2aca1ac39742fdd1ef5ed118",
            content=None,
        ),
    ),
    class_counts=(1553, 1269, 929, 824, 852, 716, 834, 792, 708, 821),
    alternatives=(
        Source(
            "dekm.datasets.usps:from_hdf5",
            (
                RawFile(
                    "usps/USPS.h5",
                    (),
                    sha256="734f88c541104a956d88be2c95d03b4a463ffd74ccc2ba9c80841fb98e3fcb36",
                    content=None,
                ),
            ),
        ),
    ),
)

COIL20 = Dataset(
    label="COIL-20",
    kind="images",
    n_samples=1440,
    n_clusters=20,
    shape=(28, 28, 1),
    loader="dekm.datasets.coil20:coil20",
    licence="research use",
    raw=(
        RawFile(
            "coil20/coil-20-proc.zip",
            (
                f"https://www.cs.columbia.edu/CAVE/{COIL_PATH}",
                f"https://cave.cs.columbia.edu/old/{COIL_PATH}",
            ),
            md5="464dec76a6abfcd00e8de6cf1e7d0acc",
            content_sha256="7274cbacb79ea6c57340827c9f9301745a8e9b3173dea4aa828e00b49c42946c",
            content="dekm.datasets.coil20:content",
        ),
    ),
    class_counts=(72,) * 20,
)

FRGC = Dataset(
    label="FRGC",
    kind="images",
    n_samples=2462,
    n_clusters=20,
    shape=(32, 32, 3),
    loader="dekm.datasets.frgc:from_jule",
    licence="NIST agreement, not redistributable",
    raw=(
        RawFile(
            "frgc/data4torch.h5",
            ("https://github.com/jwyang/JULE.torch/raw/69bdfd8/datasets/FRGC/data4torch.h5",),
            git_blob="91e200768b454a6c238c5cb4abf16e756e6e9649",
            content=None,
        ),
    ),
    alternatives=(
        Source(
            "dekm.datasets.frgc:from_dekm",
            (RawFile("frgc/FRGC.h5", (), content="dekm.datasets.frgc:content"),),
        ),
    ),
    restricted=True,
)
