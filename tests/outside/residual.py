"""A fully connected autoencoder with residual blocks and batch normalization."""

from math import prod

from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(width, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Linear(width, width)
        )

    def forward(self, x):
        return x + self.layers(x)


class Residual(nn.Module):
    def __init__(self, shape, embedding_dim):
        super().__init__()
        d = prod(shape)
        self.encoder = nn.Sequential(nn.Flatten(), nn.Linear(d, 64), Block(64), nn.Linear(64, embedding_dim))
        self.decoder = nn.Sequential(
            nn.Linear(embedding_dim, 64), Block(64), nn.Linear(64, d), nn.Unflatten(1, shape)
        )
