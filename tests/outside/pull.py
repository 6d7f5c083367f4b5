"""K-means on an embedding that is trained to be near the centers of its clusters."""

from itertools import islice

import torch

from dekm import DeepClusterer, Iteration
from dekm.clustering.kmeans import kmeans
from dekm.nn.training import Step, batches, encode, squared_error, train


class Pull(DeepClusterer):
    def __init__(self, n_clusters=8, *, autoencoder=None, weight=0.1, device="auto", random_state=None):
        self.n_clusters = n_clusters
        self.autoencoder = autoencoder
        self.weight = weight
        self.device = device
        self.random_state = random_state

    def fit(self, X, y=None):
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
