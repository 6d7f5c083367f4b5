"""Networks that a user builds: their construction under a seed, and what they have to fulfil."""

import contextlib
import copy
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn

from dekm.errors import InputError, shown
from dekm.nn.networks import Network
from dekm.outside import load_attribute

BuildNetwork = Callable[[tuple[int, ...], int], nn.Module]


class OwnNetwork(Network):
    """The two halves of a user's network."""

    def __init__(self, encoder: nn.Module, decoder: nn.Module) -> None:
        super().__init__()
        self.encoder, self.decoder = encoder, decoder


@contextlib.contextmanager
def seeded(seed: int, device: torch.device) -> Iterator[None]:
    """Seed PyTorch's global generators within the block, from which modules draw weights and dropout."""
    generators = [torch.default_generator]
    if device.type == "cuda":
        torch.cuda.init()
        index = torch.cuda.current_device() if device.index is None else device.index
        generators.append(torch.cuda.default_generators[index])
    states = [generator.get_state() for generator in generators]
    for generator in generators:
        generator.manual_seed(seed)
    try:
        yield
    finally:
        for generator, state in zip(generators, states, strict=True):
            generator.set_state(state)


def build_network(network: BuildNetwork | str, shape: tuple[int, ...], embedding_dim: int) -> Network:
    """The network for samples of a shape, on the CPU, with the weights that it comes with.

    `network` maps the shape of a sample and the embedding dimension to a module with the submodules
    ``encoder`` and ``decoder``, or is its import path "module:attribute". `InputError` if it cannot be built,
    or does not map samples to embeddings and back.
    """
    build = load_attribute(network) if isinstance(network, str) else network
    name = f"network={shown(network)}"
    if not callable(build):
        raise InputError(f"{name} should be a function of the shape of a sample and the embedding dimension.")
    try:
        # A copy: the function may return the same module each time, with weights that are given.
        module: Any = copy.deepcopy(build(tuple(shape), embedding_dim))
    except Exception as error:
        raise InputError(f"{name} cannot be built for samples of shape {shape}: {_text(error)}") from error
    _check_network(module, tuple(shape), embedding_dim, name)
    return OwnNetwork(module.encoder, module.decoder)


def _check_network(module: Any, shape: tuple[int, ...], embedding_dim: int, name: str) -> None:
    """Raise `InputError` unless the network embeds two samples and reconstructs them."""
    halves = [module, *(getattr(module, half, None) for half in ("encoder", "decoder"))]
    if not all(isinstance(half, nn.Module) for half in halves):
        raise InputError(f"{name} should return a torch.nn.Module with the modules encoder and decoder.")
    if not any(parameter.requires_grad for parameter in module.encoder.parameters()):
        raise InputError(f"{name}: the encoder should have parameters that can be trained.")
    value = torch.zeros(2, *shape, dtype=torch.float32, device="cpu")
    for half, expected in (("encoder", (2, embedding_dim)), ("decoder", (2, *shape))):
        given = tuple(value.shape)
        try:
            with torch.no_grad(), evaluation(module):
                value = getattr(module, half)(value)
        except Exception as error:
            raise InputError(f"{name}: the {half} cannot map shape {given}: {_text(error)}") from error
        if tuple(value.shape) != expected:
            raise InputError(
                f"{name}: the {half} maps shape {given} to {tuple(value.shape)}; it should be {expected}."
            )


@contextlib.contextmanager
def evaluation(module: nn.Module) -> Iterator[None]:
    """Set a module to evaluation mode within the block; each layer gets its mode back."""
    modes = [(layer, layer.training) for layer in module.modules()]
    module.eval()
    try:
        yield
    finally:
        for layer, training in modes:
            layer.training = training


def _text(error: Exception) -> str:
    lines = str(error).splitlines() or [""]
    return f"{type(error).__name__}: {lines[0].rstrip('.')}."
