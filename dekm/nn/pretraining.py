"""Pretraining of an autoencoder: end to end by Equation (1), and layer by layer before that as DEC does.

References
----------
.. [1] Xie, Girshick and Farhadi (2016). Unsupervised Deep Embedding for Clustering Analysis. ICML.
"""

from itertools import chain
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from dekm.nn.checkpoint import NO_CHECKPOINT, Checkpoint
from dekm.nn.networks import Network
from dekm.nn.stages import OnEpoch, Stages
from dekm.nn.training import Step, batches, encode, squared_error, steps_per_epoch


def pretrain(
    autoencoder: Network,
    X: Float[Tensor, "n ..."],
    *,
    n_epochs: int,
    batch_size: int,
    lr: float,
    generator: torch.Generator,
    layerwise: bool = False,
    noise: float = 0.2,
    progress: bool = False,
    coordinates: Float[Tensor, "n e"] | None = None,
    checkpoint: Checkpoint = NO_CHECKPOINT,
    on_epoch: OnEpoch | None = None,
) -> list[float]:
    """Minimize Equation (1) by Adam, in place: line 1 of Algorithm 1.

    With `coordinates` z of the samples, the encoder minimizes the squared error of f(x) and z instead, and
    only the decoder minimizes Equation (1).
    With `layerwise` each layer is trained for `n_epochs` before (`pretrain_layers`). `generator`, on the CPU,
    gives the order of the samples. A pretraining that continues from its `checkpoint` has the same result as
    one without the interruption. Returns the mean loss of the batches of every epoch of the whole network.
    """

    def loss(index: Tensor) -> Tensor:
        x = X[index]
        if coordinates is None:
            return squared_error(autoencoder(x), x)
        h = autoencoder.encoder(x)
        return squared_error(h, coordinates[index]) + squared_error(autoencoder.decoder(h.detach()), x)

    stages = Stages(
        autoencoder,
        n_stages=1 + (len(linear_layers(autoencoder, "encoder")) if layerwise else 0),
        n_epochs=n_epochs,
        n_steps=steps_per_epoch(len(X), batch_size),
        progress=progress,
        checkpoint=checkpoint,
        on_epoch=on_epoch,
    )
    if layerwise:
        settings: dict[str, Any] = {"batch_size": batch_size, "lr": lr, "noise": noise}
        pretrain_layers(autoencoder, X, stages, **settings, generator=generator)
    step = Step(loss, autoencoder.parameters(), lr=lr, network=autoencoder)
    stream = batches(len(X), batch_size, generator=generator, reshuffle=True, device=X.device)
    return stages.run(step, stream)


def pretrain_layers(
    autoencoder: Network,
    X: Float[Tensor, "n ..."],
    stages: Stages,
    *,
    batch_size: int,
    lr: float,
    noise: float,
    generator: torch.Generator,
) -> None:
    """Train the layers of a fully connected autoencoder one after the other by Adam, in place.

    Every layer of the encoder and its mirror in the decoder are a denoising autoencoder of the activations
    of the layers below, trained for a stage. Dropout with the probability `noise`, 0.2 in DEC and 0 in DCN,
    is applied to the input and the output of a layer, but not to the samples and not to the embedding. The
    embedding and the reconstructed samples are linear, all other activations are ReLU.
    """
    encoders = linear_layers(autoencoder, "encoder")
    decoders = linear_layers(autoencoder, "decoder")[::-1]
    # `generator` is on the CPU; dropout is drawn on the device of the samples.
    seed = int(torch.randint(2**31, (1,), generator=generator, device="cpu"))
    draws = torch.Generator(X.device).manual_seed(seed)
    inputs = X.flatten(1)
    stream = batches(len(X), batch_size, generator=generator, reshuffle=True, device=X.device)
    for depth, (down, up) in enumerate(zip(encoders, decoders, strict=True)):
        encode_layer = nn.Sequential(down) if down is encoders[-1] else nn.Sequential(down, nn.ReLU())
        decode_layer = nn.Sequential(up) if depth == 0 else nn.Sequential(up, nn.ReLU())
        step = denoising_step(
            encode_layer,
            decode_layer,
            inputs,
            drop_input=noise if depth else 0.0,
            drop_code=0.0 if down is encoders[-1] else noise,
            lr=lr,
            generator=draws,
            network=autoencoder,
        )
        stages.run(step, stream, generator=draws)
        inputs = encode(encode_layer, inputs)


def linear_layers(autoencoder: nn.Module, part: str) -> list[nn.Linear]:
    """The fully connected layers of the "encoder" or the "decoder"."""
    return [layer for layer in autoencoder.get_submodule(part).children() if isinstance(layer, nn.Linear)]


def denoising_step(
    encode_layer: nn.Module,
    decode_layer: nn.Module,
    inputs: Float[Tensor, "n w"],
    *,
    drop_input: float,
    drop_code: float,
    lr: float,
    generator: torch.Generator,
    network: Network | None = None,
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
    return Step(loss, parameters, lr=lr, generator=generator, network=network)
