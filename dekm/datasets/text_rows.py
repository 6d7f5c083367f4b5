"""The text datasets of Table II."""

from dekm.datasets.dataset import Dataset, Source
from dekm.datasets.lyrl import QRELS
from dekm.datasets.raw_file import RawFile

FIGSHARE = "https://ndownloader.figshare.com/files/"
LYRL = "http://www.ai.mit.edu/projects/jmlr/papers/volume5/lewis04a/"
DEEP_KMEANS = "https://raw.githubusercontent.com/MaziarMF/deep-k-means/3872869/split/rcv1/"
REUTERS_LICENCE = "NIST agreement for the texts; Lewis's token and vector files are public"
TOKENS = {
    "test_pt0": "b8c319839c75def02becf5afea42d9007cd3b9dd0b9f7ec191d627cb64e165a9",
    "test_pt1": "a6a9244e93449985aec0371c1f0d9e73a9f5a2cb651859474efd213550e733b4",
    "test_pt2": "d1a07c68a636bb5638552d3facb13a6ff58115653b55d8318bca1252a9c43193",
    "test_pt3": "9a70be1a2ec0ecd554fa97eacc87cf99d086843495683289d12f99911b00a14e",
    "train": "7671361f75776fd1e6503ea73e78bcd4179bb332c1a8297ebed102f4eb1b31c0",
}
VECTORS = {
    "test_pt0": ("5976069", "ed40f7e418d10484091b059703eeb95ae3199fe042891dcec4be6696b9968374"),
    "test_pt1": ("5976066", "87700668ae45d45d5ca1ef6ae9bd81ab0f5ec88cc95dcef9ae7838f727a13aa6"),
    "test_pt2": ("5976063", "48143ac703cbe33299f7ae9f4995db49a258690f60e5debbff8995c34841c7f5"),
    "test_pt3": ("5976060", "dfcb0d658311481523c6e6ca0c3f5a3e1d3d12cde5d7a8ce629a9006ec7dbb39"),
    "train": ("5976057", "5468f656d0ba7a83afc7ad44841cf9a53048a5c083eedc005dcdb5cc768924ae"),
}
SPLIT = {
    "test": "26c22ad47eda2c283a5481c2f705da61f862c0b7b457941a1564b07f605133bf",
    "validation": "a1a689eb7f808e80d57dab694e57d98fe92a9ba3ef2b787e7f33547a03e9cf92",
}

_QRELS_FILE = RawFile(
    QRELS,
    (f"{LYRL}a08-topic-qrels/rcv1-v2.topics.qrels.gz", f"{FIGSHARE}5976048"),
    sha256="2a98e5e5d8b770bded93afc8930d88299474317fe14181aee1466cc754d0d1c1",
    content=None,
)
_TOKEN_FILES = tuple(
    RawFile(
        f"rcv1/lyrl2004_tokens_{part}.dat.gz",
        (f"{LYRL}a12-token-files/lyrl2004_tokens_{part}.dat.gz",),
        content_sha256=content_sha256,
    )
    for part, content_sha256 in TOKENS.items()
)
_VECTOR_FILES = tuple(
    RawFile(f"rcv1/lyrl2004_vectors_{part}.dat.gz", (FIGSHARE + number,), sha256=sha256, content=None)
    for part, (number, sha256) in VECTORS.items()
)
_SPLIT_FILES = tuple(
    RawFile(f"rcv1_10k_index/{part}", (DEEP_KMEANS + part,), sha256=sha256, content=None)
    for part, sha256 in SPLIT.items()
)
_CACHE_FILES = tuple(
    RawFile(f"rcv1/RCV1/{name}_py3.pkl", (), content=None)
    for name in ("samples", "sample_id", "sample_topics", "topics_names")
)

REUTERS10K = Dataset(
    label="REUTERS-10K",
    kind="text",
    n_samples=10_000,
    n_clusters=4,
    shape=(2000,),
    loader="dekm.datasets.reuters:from_mat",
    licence=REUTERS_LICENCE,
    raw=(
        RawFile(
            "reuters10k/reuters10k.mat",
            (
                "https://github.com/slim1017/VaDE/raw/eca52b4b57e32a68f578de7a54eda5d39907b0fe/"
                "dataset/reuters10k/reuters10k.mat",
            ),
            sha256="aa0774a824889efe0597f0d42c6a795c99f312f89819afde957746fb7f0588b1",
            content=None,
        ),
    ),
    alternatives=(Source("dekm.datasets.reuters:from_tokens", (*_TOKEN_FILES, _QRELS_FILE)),),
)

NEWS20 = Dataset(
    label="20NEWS",
    kind="text",
    n_samples=18_846,
    n_clusters=20,
    shape=(2000,),
    loader="dekm.datasets.news20:news20",
    licence="none stated by its collectors",
    raw=(
        RawFile(
            "20news/20news-bydate.tar.gz",
            (f"{FIGSHARE}5975967",),
            sha256="8f1b2514ca22a5ade8fbb9cfa5727df95fa587f4c87b786e15c759fa66d95610",
            content_sha256="88d47f138a76b288e51d3a4cb39ec25c1e597acc17aa51f35663f40d24870235",
            content="dekm.datasets.news20:content",
        ),
    ),
    class_counts=(
        *(799, 973, 985, 982, 963, 988, 975, 990, 996, 994),
        *(999, 991, 984, 990, 987, 997, 910, 940, 775, 628),
    ),
)

RCV1_10K = Dataset(
    label="RCV1-10K",
    kind="text",
    n_samples=10_000,
    n_clusters=4,
    shape=(2000,),
    loader="dekm.datasets.rcv1:from_vectors",
    licence=REUTERS_LICENCE,
    raw=(*_SPLIT_FILES, *_VECTOR_FILES, _QRELS_FILE),
    alternatives=(Source("dekm.datasets.rcv1:from_scikit_learn", (*_SPLIT_FILES, *_CACHE_FILES)),),
)
