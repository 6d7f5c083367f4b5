"""A network of a user, with batch normalization and dropout."""

import math

from torch import nn


def random_network(shape: tuple[int, ...], embedding_dim: int) -> nn.Module:
    """Batch normalization in both halves, and dropout in the encoder."""
    d = math.prod(shape)
    module = nn.Module()
    module.encoder = nn.Sequential(
        nn.Flatten(),
        nn.Linear(d, 8),
        nn.BatchNorm1d(8),
        nn.ReLU(),
        nn.Dropout(0.3),
        nn.Linear(8, embedding_dim),
    )
    module.decoder = nn.Sequential(
        nn.Linear(embedding_dim, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, d), nn.Unflatten(1, shape)
    )
    return module
