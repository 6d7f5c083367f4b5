"""
Your first clustering
=====================

DEKM clusters images of five digits, and a K-means on their pixels is put beside it. It takes ten seconds on
one CPU core. On another machine the last digits of the scores differ.
"""

# %%
# The samples are rows of 64 pixels in [0, 1]. The labels ``y`` are only used to judge the result; no method
# sees them.

from sklearn.datasets import load_digits

from dekm import DEKM, Autoencoder, KMeans
from dekm.metrics import accuracy, nmi

digits = load_digits(n_class=5)
X, y = digits.data / 16, digits.target
X.shape

# %%
# A deep method starts from an autoencoder, which is pretrained in the fit. The defaults are those of the
# paper, 200 epochs of wide layers; this one is smaller.

autoencoder = Autoencoder(hidden=(128, 128, 256), n_epochs=20, batch_size=64)
dekm = DEKM(n_clusters=5, autoencoder=autoencoder, n_init=20, tol=0.005, random_state=0, device="cpu").fit(X)
k_means = KMeans(n_clusters=5, random_state=0, device="cpu").fit(X)

for method in (k_means, dekm):
    print(
        f"{type(method).__name__:7} ACC {accuracy(y, method.labels_):.3f}, NMI {nmi(y, method.labels_):.3f}"
    )

# %%
# The fit keeps a row of measures for each iteration. ``changed`` is the fraction of samples whose cluster
# changed; the fit stops when it is below ``tol``. In iteration 0, the partition of the pretrained embedding,
# nothing has changed yet. None of these measures needs true labels.

import pandas as pd

pd.DataFrame(dekm.history_)[["n_iter", "loss", "changed", "inertia_fraction", "smallest", "largest"]].round(3)

# %%
# The three samples of each cluster that are nearest to its center in the embedding:

import matplotlib.pyplot as plt
import numpy as np

distances = np.linalg.norm(dekm.embedding_ - dekm.cluster_centers_[dekm.labels_], axis=1)
figure, rows = plt.subplots(3, 5, figsize=(4.5, 2.8))
for cluster, column in enumerate(rows.T):
    members = np.flatnonzero(dekm.labels_ == cluster)
    for axes, sample in zip(column, members[np.argsort(distances[members])[:3]], strict=True):
        axes.imshow(digits.images[sample], cmap="gray_r")
        axes.set_axis_off()
    column[0].set_title(f"cluster {cluster}", fontsize=9)
plt.show()

# %%
# New samples get the cluster of the nearest center. A fitted method is saved without code, as safetensors,
# and read again.

from pathlib import Path
from tempfile import TemporaryDirectory

with TemporaryDirectory() as folder:
    file = Path(folder) / "digits.safetensors"
    dekm.save(file)
    print(DEKM.load(file).predict(X[:8]), "digits", y[:8])

# %%
# What next: each parameter is described in the reference of :class:`dekm.DEKM`, and the other methods take
# the same autoencoder, as :doc:`/docs/library` shows.
