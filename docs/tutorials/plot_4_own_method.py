"""
Your own method beside ten
==========================

A deep clustering method in thirty lines, checked by the tests that the methods of this project pass, and
compared with them. Nothing of the project is changed.
"""

# %%
# The method
# ----------
# ``Pull`` trains the autoencoder and pulls each embedded sample towards the center of its cluster.
# :class:`dekm.DeepClusterer` gives it ``predict``, ``transform``, ``score``, ``save`` and ``load``, the
# checks of its input and a history.

from itertools import islice

import torch

from dekm import DEKM, AEKMeans, Autoencoder, DeepClusterer, Iteration
from dekm.clustering.kmeans import kmeans
from dekm.nn.training import Step, batches, encode, squared_error, train


class Pull(DeepClusterer):
    """K-means on an embedding that is trained to be near the centers of its clusters."""

    def __init__(self, n_clusters=8, *, autoencoder=None, weight=0.1, device="auto", random_state=None):
        self.n_clusters = n_clusters
        self.autoencoder = autoencoder
        self.weight = weight
        self.device = device
        self.random_state = random_state

    def fit(self, X, y=None):
        """Cluster X; y is ignored."""
        random_state, generator = self.start_fit()
        samples = self.load_samples(X, reset=True)
        network = self.pretrained_network(samples, random_state)
        self.encoder_ = network.encoder
        targets = torch.zeros_like(encode(self.encoder_, samples))

        def loss(index):
            x, h = samples[index], network.encoder(samples[index])
            return squared_error(network.decoder(h), x) + self.weight * squared_error(h, targets[index])

        step = Step(loss, network.parameters(), lr=1e-3, network=network)
        stream = batches(len(samples), 64, generator=generator, reshuffle=True, device=samples.device)
        for n_iter in range(4):
            H = encode(self.encoder_, samples)
            partition = kmeans(H, self.n_clusters, n_init=10, random_state=random_state)
            self.report(Iteration(n_iter, H, *partition[:3]))
            targets.copy_(partition.centers[partition.labels])  # in place: a GPU replays the captured step
            if n_iter < 3:
                train(step, islice(stream, 20))
        return self.finish_fit(H, partition, n_iter)


# %%
# Beside other methods
# --------------------
# All start from the same pretrained autoencoder, so the differences are those of the methods. A true
# comparison has several seeds and datasets; that is what the workflow is for.

import pandas as pd
from sklearn.datasets import load_digits
from sklearn.frozen import FrozenEstimator

from dekm.metrics import accuracy, nmi

X, y = load_digits(return_X_y=True)
X = X / 16
autoencoder = Autoencoder(
    hidden=(128, 128, 256), n_epochs=30, batch_size=64, random_state=0, device="cpu"
).fit(X)
start = {"autoencoder": FrozenEstimator(autoencoder), "random_state": 0, "device": "cpu"}
methods = [AEKMeans(10, **start), Pull(10, weight=0.5, **start), DEKM(10, n_init=20, tol=0.005, **start)]
scores = {}
for method in methods:
    labels = method.fit_predict(X)
    scores[type(method).__name__] = {"ACC": accuracy(y, labels), "NMI": nmi(y, labels)}

pd.DataFrame(scores).T.round(3)

# %%
# ``Pull`` keeps a history like the other methods, with measures that need no true labels. The inertia of
# its clusters, as a fraction of the scatter of its embedding, falls while the samples are pulled:

import matplotlib.pyplot as plt

figure, axes = plt.subplots(figsize=(5, 3))
for method in methods[1:]:
    history = pd.DataFrame(method.history_)
    axes.plot(history["n_iter"], history["inertia_fraction"], marker=".", label=type(method).__name__)
axes.set(xlabel="iteration", ylabel="inertia / total scatter")
axes.legend()
plt.show()

# %%
# The checks
# ----------
# These are the checks that the methods of this project pass: labels and shapes, the same result from the
# same seed, true labels never used, clones, too few samples, invalid input, kinds of arrays, prediction,
# saving. For a method in a file ``pull.py``, ``python -m dekm check pull:Pull`` runs them.

from dekm.experiment.contract import Subject, run_checks

for result, text in run_checks(Subject(Pull)):
    print(f"{result:8} {text}")

# %%
# In the tables
# -------------
# One line of a configuration makes it a row of every table, beside the other methods and on all datasets:
#
# .. code-block:: yaml
#
#    methods:
#      dekm: {}
#      pull: {estimator: "pull:Pull", label: Pull, autoencoder: matching, weight: 0.5}
#
# :doc:`/docs/extending` puts networks, loaders and figures of your own beside it.
