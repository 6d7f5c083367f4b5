"""
Embeddings
==========

Vectors of messages go in; clusters come out, with what each of them is about, and new messages get a
cluster. It takes half a minute. As in the :doc:`table of your own <plot_3_table>`, run the Python code in the
folder of a clone, and type into a shell there what this page has in ``shell(...)``. What to expect of vectors
of a language or image model is in :doc:`/docs/embeddings`.
"""

# %%
# 1. Vectors
# ----------
# 900 messages to a shop are made of words about six subjects and of words that belong to any subject.

# sphinx_gallery_start_ignore
import os
import shlex
import subprocess
import sys
from pathlib import Path
from tempfile import mkdtemp

import dekm

start, folder = Path.cwd(), Path(mkdtemp())
os.chdir(folder)
PROJECT = Path(dekm.__file__).parents[1]


def shell(command: str) -> None:
    """Run a command in the temporary folder of this page, and print it with its output."""
    program, *arguments = shlex.split(command)
    call = [sys.executable, *arguments] if program == "python" else [program, *arguments]
    environment = os.environ | {"PYTHONPATH": str(PROJECT), "COLUMNS": "100"}
    done = subprocess.run(call, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr or done.stdout)
    print(f"$ {command}\n{done.stdout}")


# sphinx_gallery_end_ignore
import numpy as np

subjects = {
    "delivery": "parcel courier tracking arrived late doorstep depot shipped delayed customs address",
    "payment": "card charged twice invoice bank transfer receipt amount declined billing voucher",
    "account": "password login reset email locked profile username code verify browser session",
    "returns": "refund return label exchange wrong size damaged box replace collect swap",
    "repair": "screen battery broken warranty charger repair cracked heats noise spare technician",
    "newsletter": "unsubscribe offers newsletter mailing list spam weekly catalogue privacy consent letters",
}
anything = "please order yesterday website waiting still number thanks question customer service item help"
rng = np.random.default_rng(0)


def message(subject: str) -> str:
    """One to three words about a subject, among four to seven words of any subject."""
    own, common = subjects[subject].split(), anything.split()
    words = [*rng.choice(own, rng.integers(1, 4)), *rng.choice(common, rng.integers(4, 8))]
    return " ".join(rng.permutation(words))


truth = rng.choice(list(subjects), 900)
messages = [message(subject) for subject in truth]
messages[:3]

# %%
# A sentence model makes vectors of them, for example by
# ``SentenceTransformer("all-MiniLM-L6-v2").encode(messages, normalize_embeddings=True)``. That needs a
# download, so latent semantic analysis stands in for it here: 60 numbers for each message, of length 1.

from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

model = make_pipeline(TfidfVectorizer(), TruncatedSVD(60, random_state=0), Normalizer())
X = model.fit_transform(messages).astype(np.float32)
X.shape

# %%
# 2. Clusters
# -----------
# An autoencoder that is trained from random weights can lose what a model knows. This one starts at the
# principal components of the vectors, ``init="pca"``, and needs no epochs: AE+K-means, which is iteration 0
# of DEKM, is K-means on 20 components, and DEKM goes on from there. K-means on the vectors stands beside
# them. The subjects serve for the scores only.

from sklearn.frozen import FrozenEstimator

from dekm import DEKM, AEKMeans, Autoencoder, KMeans, metrics

autoencoder = Autoencoder(init="pca", embedding_dim=20, hidden=(128,), n_epochs=0, random_state=0)
start_of_both = FrozenEstimator(autoencoder.fit(X))
clusterers = {
    "K-means": KMeans(6, random_state=0),
    "AE+K-means": AEKMeans(6, autoencoder=start_of_both, n_init=20, random_state=0),
    "DEKM": DEKM(6, autoencoder=start_of_both, n_init=20, random_state=0),
}
for name, clusterer in clusterers.items():
    labels = clusterer.fit_predict(X)
    acc, nmi = metrics.accuracy(truth, labels), metrics.nmi(truth, labels)
    print(f"{name:10} ACC {100 * acc:5.1f}, NMI {100 * nmi:5.1f}")

# %%
# The messages are made so that most of the 60 numbers are noise, which the components leave out; that is most
# of the difference here. On vectors of a sentence model the differences are smaller.

# %%
# 3. What each cluster is about
# -----------------------------
# The words that are more frequent in a cluster than in all messages say its subject, and the messages nearest
# to the center are typical of it.

from sklearn.feature_extraction.text import CountVectorizer

counter = CountVectorizer(binary=True)
has_word = counter.fit_transform(messages).toarray()
words = counter.get_feature_names_out()
fitted = clusterers["DEKM"]
distances = np.linalg.norm(fitted.embedding_ - fitted.cluster_centers_[fitted.labels_], axis=1)
for cluster in range(6):
    members = np.flatnonzero(fitted.labels_ == cluster)
    more = has_word[members].mean(0) - has_word.mean(0)
    nearest = members[distances[members].argmin()]
    print(f"{cluster}: {len(members)} messages, {', '.join(words[more.argsort()[:-5:-1]])}")
    print(f"   {messages[nearest]}")

# %%
# 4. New messages
# ---------------
# New messages are embedded by the same model, and get the cluster of the nearest center.

new = ["the courier left my parcel at the depot", "I cannot reset my password"]
for text, cluster in zip(new, fitted.predict(model.transform(new)), strict=True):
    print(cluster, text)

# %%
# 5. The same by the workflow
# ---------------------------
# A Parquet or JSON Lines file may hold the vectors as a column of lists, beside a column of names. ``scaling:
# none`` keeps their length. In a configuration the settings stand in the blocks ``datasets`` and
# ``pretraining``: ``{init: pca, embedding_dim: 20, hidden: [128], n_epochs: 0}``.

# sphinx_gallery_start_ignore
os.chdir(folder)
# sphinx_gallery_end_ignore
import json

with Path("messages.jsonl").open("w", encoding="utf-8") as file:
    for text, vector, subject in zip(messages, X.tolist(), truth.tolist(), strict=True):
        file.write(json.dumps({"text": text, "vector": vector, "subject": subject}) + "\n")

data = "--set path=messages.jsonl --set n_clusters=6 --set name_column=text --set label_column=subject"
start_at = "--set init=pca --set embedding_dim=20 --set hidden=[128] --set n_epochs=0"
place = "--results results"
shell(f"python -m dekm prepare messages --raw-dir raw {place} {data} --set scaling=none")
shell(f"python -m dekm pretrain messages mlp --seeds 0 --device cpu {place} {start_at}")
shell(f"python -m dekm cluster messages dekm --seeds 0 --device cpu {place} --set n_init=20")
shell("head -n 4 results/runs/messages/dekm/seed0/clusters.csv")

# %%
# What next: :doc:`/docs/how-to/choose-k` where the number of clusters is not known, and
# :doc:`/docs/how-to/explore-a-run` for a map of the messages in a browser.

# sphinx_gallery_start_ignore
import shutil

os.chdir(start)
shutil.rmtree(folder)
# sphinx_gallery_end_ignore
