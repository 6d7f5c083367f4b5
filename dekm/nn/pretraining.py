"""Pretraining of an autoencoder: end to end by Equation (1), and layer by layer before that as DEC does.

References
----------
.. [1] Xie, Girshick and Farhadi (2016). Unsupervised Deep Embedding for Clustering Analysis. ICML.
"""

from itertools import chain, islice

import torch
from jaxtyping import Float
from torch import Tensor, nn
from tqdm import trange

from dekm.nn.networks import Network
from dekm.nn.training import Step, batches, encode, squared_error, steps_per_epoch, train

DROPOUT = 0.2


def pretrain(
    autoencoder: Network,
    X: Float[Tensor, "n ..."],
    *,
    n_epochs: int,
    batch_size: int,
    lr: float,
    generator: torch.Generator,
    progress: bool = False,
) -> list[float]:
    """Minimize Equation (1) by Adam, in place: line 1 of Algorithm 1.

    Returns
    -------
    list of float
        Mean loss of the batches of every epoch.
    """

    def loss(index: Tensor) -> Tensor:
        x = X[index]
        return squared_error(autoencoder(x), x)

    step = Step(loss, autoencoder.parameters(), lr=lr)
    stream = batches(len(X), batch_size, generator=generator, reshuffle=True, device=X.device)
    n_steps = steps_per_epoch(len(X), batch_size)
    epochs = trange(n_epochs, desc="Pretraining", disable=not progress)
    return [train(step, islice(stream, n_steps)) for _ in epochs]


def pretrain_layers(
    encoder: nn.Module,
    decoder: nn.Module,
    X: Float[Tensor, "n ..."],
    *,
    n_epochs: int,
    batch_size: int,
    lr: float,
    generator: torch.Generator,
) -> None:
    """Train the layers of a fully connected autoencoder one after the other by Adam, in place.

    Every layer of the encoder and its mirror in the decoder are a denoising autoencoder of the activations
    of the layers below, trained for `n_epochs`. Dropout of 0.2 is applied to the input and the output of a
    layer, but not to the samples and not to the embedding. The embedding and the reconstructed samples are
    linear, all other activations are ReLU.
    """
    encoders = [layer for layer in encoder.children() if isinstance(layer, nn.Linear)]
    decoders = [layer for layer in decoder.children() if isinstance(layer, nn.Linear)][::-1]
    # `generator` is on the CPU; dropout is drawn on the device of the samples.
    seed = int(torch.randint(2**31, (1,), generator=generator, device="cpu"))
    noise = torch.Generator(X.device).manual_seed(seed)
    inputs = X.flatten(1)
    stream = batches(len(X), batch_size, generator=generator, reshuffle=True, device=X.device)
    for depth, (down, up) in enumerate(zip(encoders, decoders, strict=True)):
        encode_layer = nn.Sequential(down) if down is encoders[-1] else nn.Sequential(down, nn.ReLU())
        decode_layer = nn.Sequential(up) if depth == 0 else nn.Sequential(up, nn.ReLU())
        step = denoising_step(
            encode_layer,
            decode_layer,
            inputs,
            drop_input=DROPOUT if depth else 0.0,
            drop_code=0.0 if down is encoders[-1] else DROPOUT,
            lr=lr,
            generator=noise,
        )
        for _ in range(n_epochs):
            train(step, islice(stream, steps_per_epoch(len(X), batch_size)))
        inputs = encode(encode_layer, inputs)


def denoising_step(
    encode_layer: nn.Module,
    decode_layer: nn.Module,
    inputs: Float[Tensor, "n w"],
    *,
    drop_input: float,
    drop_code: float,
    lr: float,
    generator: torch.Generator,
) -> Step:
    """A step on the squared error between the inputs and their reconstruction under dropout.

    The loss is the sum over the values of an input and the mean over the batch.
    """

    def drop(x: Tensor, rate: float) -> Tensor:
        kept = torch.rand(x.shape, generator=generator, dtype=x.dtype, device=x.device) >= rate
        return x * kept / (1 - rate)

    def loss(index: Tensor) -> Tensor:
        x = inputs[index]
        return squared_error(decode_layer(drop(encode_layer(drop(x, drop_input)), drop_code)), x)

    parameters = chain(encode_layer.parameters(), decode_layer.parameters())
    return Step(loss, parameters, lr=lr, generator=generator)
