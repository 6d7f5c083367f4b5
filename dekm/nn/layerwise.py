"""Layer-wise denoising pretraining of a fully connected autoencoder (Xie, Girshick and Farhadi, 2016).

An alternative start of Equation (1): every layer of the encoder and its mirror in the decoder first learn
to restore the activations of the layers below, and the whole network is then tuned without dropout.
"""

from itertools import chain, islice

import torch
from jaxtyping import Float
from torch import Tensor, nn

from dekm.nn.training import Step, batches, encode, squared_error, steps_per_epoch, train

DROPOUT = 0.2


def pretrain_layers(
    encoder: nn.Sequential,
    decoder: nn.Sequential,
    X: Float[Tensor, "n ..."],
    *,
    n_epochs: int,
    batch_size: int,
    lr: float,
    generator: torch.Generator,
) -> None:
    """Train one layer after the other in place, each for `n_epochs`, by Adam.

    A share of 0.2 of the values of a layer's input and output is dropped, except of the data themselves and
    of the code of the last layer. That code and the restored data are linear, all else is rectified.
    """
    encoders = [layer for layer in encoder if isinstance(layer, nn.Linear)]
    decoders = [layer for layer in decoder if isinstance(layer, nn.Linear)][::-1]
    noise = torch.Generator(X.device).manual_seed(int(torch.randint(2**31, (1,), generator=generator)))
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
    """A step on the squared error, mean over the batch, of inputs restored from what dropout left of them."""

    def drop(x: Tensor, share: float) -> Tensor:
        kept = torch.rand(x.shape, generator=generator, device=x.device) >= share
        return x * kept / (1 - share)

    def loss(index: Tensor) -> Tensor:
        x = inputs[index]
        return squared_error(decode_layer(drop(encode_layer(drop(x, drop_input)), drop_code)), x)

    parameters = chain(encode_layer.parameters(), decode_layer.parameters())
    return Step(loss, parameters, lr=lr, generator=generator)
