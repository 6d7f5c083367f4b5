"""A GPU emulated on the CPU, a pytest plugin: ``-p tests.helpers.emulated_gpu``.

A tensor on the emulated GPU is a marked tensor in the memory of the CPU, and operations are executed
immediately. Errors that a GPU reports, or that make its results wrong without a report, raise `GpuError`:

- an operation with tensors or generators of both devices, and `numpy` of a marked tensor;
- in a capture: waiting for the device, copies between devices, masks, a generator that is not registered with
  the graph, and a second capture. A replay executes the recorded operations on the same memory;
- two streams that use the same memory, at least one of them writing it, without one waiting for the other.
  This is detected by vector clocks; the workspace that cuBLAS has for every stream counts as memory.

Speed, rounding and the kernels of a GPU are not emulated.
"""

import contextlib
import functools
import itertools
import threading
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from torch.utils._pytree import tree_map

GPU, CPU = torch.device("cuda", 0), torch.device("cpu")
WAITS = {"item", "__bool__", "__float__", "__int__", "__index__", "tolist", "nonzero", "equal", "unique"}
MULTIPLICATIONS = ("mm", "matmul", "linear", "::mv")
CpuGenerator, cpu_grad = torch.Generator, Tensor.grad


class GpuError(RuntimeError):
    """An error that a GPU would report, or that would make its results wrong."""


class Marked(Tensor):
    """A tensor on the emulated GPU."""

    device = property(lambda self: GPU)
    is_cuda = property(lambda self: True)
    grad = property(
        lambda self: mark(cpu_grad.__get__(self)), lambda self, value: cpu_grad.__set__(self, value)
    )

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return plainly(func, args, kwargs or {})

    def __deepcopy__(self, memo: dict[int, Any]) -> "Marked":
        copied = mark(plainly(torch.clone, [self.detach()], {})).requires_grad_(self.requires_grad)
        copied._is_param = getattr(self, "_is_param", False)
        return copied


def mark(value: Any) -> Any:
    return value.as_subclass(Marked) if type(value) is Tensor else value


def plainly(func: Any, args: Any, kwargs: Any) -> Any:
    with torch._C.DisableTorchFunctionSubclass():
        return func(*args, **kwargs)


class Generator(CpuGenerator):
    """A generator that stores its device."""

    def __new__(cls, device: Any = "cpu") -> "Generator":
        made = super().__new__(cls)
        made.named = torch.device(device)
        return made

    def __init__(self, device: Any = "cpu") -> None:
        super().__init__()

    device = property(lambda self: self.named)


class Stream:
    """A stream of the GPU; `clock` has the time of the last operation of each stream that it has waited for.

    PyTorch has 32 streams and reuses them, so a new stream is the next one of them.
    """

    number: int
    clock: dict[int, int]

    def __new__(cls, device: Any = None) -> "Stream":
        return next(next_of_pool)

    @classmethod
    def numbered(cls, number: int) -> "Stream":
        made = object.__new__(cls)
        made.number, made.clock = number, {}
        return made

    def wait_stream(self, other: "Stream") -> None:
        advance(self.clock, other.clock)

    def is_capturing(self) -> bool:
        return bool(capturing)


def advance(clock: dict[int, int], other: dict[int, int]) -> None:
    clock.update({stream: max(time, clock.get(stream, 0)) for stream, time in other.items()})


class Thread(threading.local):
    """The current stream of a thread, and the clock of what the thread has waited for."""

    def __init__(self) -> None:
        self.stream = DEFAULT
        self.clock = dict(ended_threads)


class Use:
    """The last write of a block of memory and the reads since then, as (stream, time)."""

    def __init__(self, memory: Any) -> None:
        self.memory = memory  # referenced, so that its address is not reused
        self.written: tuple[int, int] | None = None
        self.readings: dict[int, int] = {}


class Capture:
    """The operations that are recorded in a capture."""

    def __init__(self, registered: list[torch.Generator]) -> None:
        self.operations: list[tuple[Any, Any, Any, Any]] = []
        self.before: list[tuple[Tensor, Tensor]] = []
        # Random layers draw from the default generator, which is registered with every graph.
        self.generators = [(torch.default_generator, torch.default_generator.get_state())]
        self.reads: dict[Any, Any] = {}
        self.writes: dict[Any, Any] = {}
        self.seeds = [generator.initial_seed() for generator in registered]

    def record(self, func: Any, args: Any, kwargs: Any) -> Any:
        if func._schema.name == "aten::_local_scalar_dense":
            raise GpuError("a capture waits for the device")
        for generator in leaves(args, kwargs):
            if isinstance(generator, CpuGenerator):
                if generator.initial_seed() not in self.seeds:
                    raise GpuError(f"{func}: the generator is not registered with the graph")
                self.generators.append((generator, generator.get_state()))
        written = written_arguments(func, args, kwargs)
        self.before += [(tensor, tensor.detach().clone()) for tensor in written]
        result = func(*args, **kwargs)
        self.operations.append((func, args, kwargs, result))
        reads, writes = memory_of(func, args, kwargs, result)
        self.reads |= reads
        self.writes |= writes
        return result

    def undo(self) -> None:
        """Restore what the recorded operations have changed: a capture does not execute them."""
        for generator, state in reversed(self.generators):
            generator.set_state(state)
        with below_autograd():
            for tensor, before in reversed(self.before):
                tensor.copy_(before)

    def replay(self) -> None:
        account("replay", self.reads, self.writes)
        with below_autograd(), _disable_current_modes():
            for func, args, kwargs, recorded in self.operations:
                if effects(func).is_view:
                    continue
                results = func(*args, **kwargs)
                if not effects(func).written:
                    for old, new in zip(leaves(recorded), leaves(results), strict=True):
                        if isinstance(old, Tensor):
                            old.copy_(new)


DEFAULT = Stream.numbered(0)
next_of_pool = itertools.cycle([Stream.numbered(i) for i in range(1, 33)])
ended_threads: dict[int, int] = {}
thread = Thread()
uses: dict[Any, Use] = {}
capturing: list[Capture] = []


@contextlib.contextmanager
def below_autograd() -> Iterator[None]:
    with torch._C._AutoDispatchBelowAutograd(), torch._C.DisableTorchFunction():
        yield


def is_written(argument: Any) -> bool:
    return argument.alias_info is not None and argument.alias_info.is_write


def leaves(*values: Any) -> list[Any]:
    """What nested lists, tuples and dictionaries hold; PyTorch's `tree_leaves` is several times slower."""
    found: list[Any] = []
    for value in values:
        if isinstance(value, (list, tuple)):
            found += leaves(*value)
        elif isinstance(value, dict):
            found += leaves(*value.values())
        else:
            found.append(value)
    return found


class Effects(NamedTuple):
    """What the schema of an operation says about its memory."""

    written: tuple[tuple[int, str], ...]  # position and name of each argument that it writes and returns
    updated: tuple[tuple[int, str], ...]  # the same of those that it writes and does not return
    is_view: bool
    uses_workspace: bool


@functools.cache
def effects(func: Any) -> Effects:
    arguments, returns = func._schema.arguments, func._schema.returns
    written = tuple((i, argument.name) for i, argument in enumerate(arguments) if is_written(argument))
    is_view = all(value.alias_info is not None and not is_written(value) for value in returns)
    uses_workspace = any(name in func._schema.name for name in MULTIPLICATIONS)
    statistics = ((3, "running_mean"), (4, "running_var")) if "batch_norm" in func._schema.name else ()
    updated = tuple(argument for argument in statistics if argument not in written)
    return Effects(written, updated, bool(returns) and is_view, uses_workspace)


def written_arguments(func: Any, args: Any, kwargs: Any) -> list[Tensor]:
    written = effects(func).written + effects(func).updated
    values = [args[i] if i < len(args) else kwargs.get(name) for i, name in written]
    return [value for value in leaves(values) if isinstance(value, Tensor)]


def storages(values: Any) -> dict[Any, Any]:
    tensors = [value for value in leaves(values) if isinstance(value, Tensor) and value.numel()]
    memory = [tensor.untyped_storage() for tensor in tensors if not tensor.is_meta]
    return {storage._cdata: storage for storage in memory}


def memory_of(func: Any, args: Any, kwargs: Any, result: Any) -> tuple[dict[Any, Any], dict[Any, Any]]:
    """The memory that an operation reads and the memory that it writes."""
    writes, given = storages(written_arguments(func, args, kwargs)), storages((args, kwargs))
    reads = {key: memory for key, memory in given.items() if key not in writes}
    writes |= {key: memory for key, memory in storages(result).items() if key not in reads}
    if effects(func).uses_workspace:
        writes["workspace", thread.stream.number] = None
    return reads, writes


def account(what: str, reads: dict[Any, Any], writes: dict[Any, Any]) -> None:
    """Record the memory uses of an operation; raise `GpuError` if it does not wait for another stream."""
    stream = thread.stream
    advance(stream.clock, thread.clock)
    now = stream.clock.get(stream.number, 0) + 1
    stream.clock[stream.number] = now
    for key, memory in (reads | writes).items():
        use = uses.setdefault(key, Use(memory))
        needed = dict([use.written] if use.written else []) | (use.readings if key in writes else {})
        if any(stream.clock.get(other, 0) < time for other, time in needed.items()):
            raise GpuError(f"{what} uses memory of another stream without waiting for it")
        if key in writes:
            use.written, use.readings = (stream.number, now), {}
        else:
            use.readings[stream.number] = now


def wait_for_device() -> None:
    if capturing:
        raise GpuError("a capture waits for the device")
    advance(thread.clock, thread.stream.clock)


class Operations(TorchDispatchMode):
    """Intercepts every operation of PyTorch, also those of a backward pass."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # nothing here is compiled, and the wrapper is called for each operation

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        with torch._C.DisableTorchFunction():
            if func.namespace == "profiler":
                return func(*args, **kwargs)
            if capturing:
                return capturing[0].record(func, args, kwargs)
            result = func(*args, **kwargs)
            account(func._schema.name, *memory_of(func, args, kwargs, result))
            return result


class Functions(TorchFunctionMode):
    """Intercepts every call of PyTorch's functions and marks the results that are on the GPU."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = getattr(func, "__name__", "")
        if name in ("__get__", "__set__", "_has_compatible_shallow_copy_type", "requires_grad_"):
            result = plainly(func, args, kwargs or {})
            return mark(result) if name == "__get__" and type(args[0]) is Marked else result
        kwargs = dict(kwargs or {})
        if name in ("to", "cpu"):
            return self.move(func, args, kwargs)
        values = leaves(args, kwargs)
        marked = [value for value in values if type(value) is Marked]
        device = torch.device(kwargs["device"]) if kwargs.get("device") is not None else None
        if device is not None:
            kwargs["device"] = CPU if device.type == "cuda" else device
        on_gpu = bool(marked) if device is None else device.type == "cuda"
        self.check(name, args, values, on_gpu=on_gpu, given=device is not None)
        if name == "one_hot" and on_gpu:  # on a GPU it does not check the range of the labels
            func = one_hot_unchecked
        result = plainly(func, args, kwargs)
        if not on_gpu:
            return result
        return mark(result) if isinstance(result, Tensor) else tree_map(mark, result)

    def move(self, func: Any, args: Any, kwargs: Any) -> Tensor:
        """Emulate `to` and `cpu`, which may copy between the devices."""
        x, *options = args
        named = [value for value in (*options, kwargs.get("device")) if isinstance(value, str | torch.device)]
        target = CPU if func.__name__ == "cpu" else torch.device(named[0]) if named else x.device
        if x.device.type not in (target.type, "meta"):
            if capturing:
                raise GpuError("a copy between devices in a capture")
            wait_for_device()
            x = plainly(torch.clone, [x.as_subclass(Tensor)], {"memory_format": torch.preserve_format})
        if func.__name__ == "to":
            options = [CPU if isinstance(value, str | torch.device) else value for value in options]
            x = plainly(func, [x, *options], kwargs | ({"device": CPU} if "device" in kwargs else {}))
        return mark(x) if target.type == "cuda" else x

    def check(self, name: str, args: Any, values: list[Any], *, on_gpu: bool, given: bool) -> None:
        tensors = [value for value in values if isinstance(value, Tensor)]
        marked = [tensor for tensor in tensors if type(tensor) is Marked]
        if name in ("numpy", "__array__") and marked:
            raise GpuError("numpy of a tensor on the GPU")
        if marked and (name in WAITS or (name == "__getitem__" and masks(args[1]))):
            wait_for_device()
        if capturing and on_gpu and name in ("tensor", "as_tensor") and not marked:
            raise GpuError("a copy between devices in a capture")
        if any(g.device.type != ("cuda" if on_gpu else "cpu") for g in values if isinstance(g, CpuGenerator)):
            raise GpuError(f"{name}: the generator is on the other device")
        if marked and not given and name != "copy_":
            others = [tensor for tensor in tensors if type(tensor) is not Marked and tensor.ndim]
            if others:
                raise GpuError(
                    f"{name}: a tensor {tuple(others[0].shape)} on the CPU beside those on the GPU"
                )


def masks(index: Any) -> bool:
    parts = index if isinstance(index, tuple) else (index,)
    return any(isinstance(part, Tensor) and part.dtype == torch.bool for part in parts)


def one_hot_unchecked(labels: Tensor, k: int) -> Tensor:
    return (labels[..., None] == torch.arange(k)).long()


class CUDAGraph:
    def __init__(self) -> None:
        self.registered: list[torch.Generator] = []

    def register_generator_state(self, generator: torch.Generator) -> None:
        self.registered.append(generator)

    def replay(self) -> None:
        self.capture.replay()


@contextlib.contextmanager
def graph(captured: CUDAGraph, stream: Stream) -> Iterator[None]:
    wait_for_device()
    captured.capture = Capture(captured.registered)
    capturing.append(captured.capture)
    try:
        with on_stream(stream):
            yield
    finally:
        capturing.clear()
    captured.capture.undo()


@contextlib.contextmanager
def on_stream(stream: Stream) -> Iterator[None]:
    before, thread.stream = thread.stream, stream
    try:
        yield
    finally:
        thread.stream = before


class WatchedThread(threading.Thread):
    """A thread in the modes of the emulation.

    It starts with what its starter has waited for. Joining it also waits for what it has waited for.
    """

    def start(self) -> None:
        self.clock_of_starter = dict(thread.clock)
        super().start()

    def run(self) -> None:
        advance(thread.clock, self.clock_of_starter)
        with Functions(), Operations():
            super().run()
        advance(ended_threads, thread.clock)

    def join(self, timeout: float | None = None) -> None:
        super().join(timeout)
        advance(thread.clock, ended_threads)


def install() -> None:
    emulated = {
        "is_available": lambda: True,
        "device_count": lambda: 1,
        "get_device_name": lambda device=None: "an emulated GPU",
        "mem_get_info": lambda device=None: (2**33, 2**33),
        "synchronize": lambda device=None: wait_for_device(),
        "is_current_stream_capturing": lambda: bool(capturing),
        "device": lambda device: contextlib.nullcontext(),
        "Stream": Stream,
        "current_stream": lambda device=None: thread.stream,
        "stream": on_stream,
        "CUDAGraph": CUDAGraph,
        "graph": graph,
        "init": lambda: None,
        "default_generators": (torch.default_generator,),
    }
    for name, value in emulated.items():
        setattr(torch.cuda, name, value)
    # A PyTorch built with CUDA asks the driver here; on most machines there is none.
    torch.cuda._lazy_init = lambda: None
    torch.cuda.current_device = lambda: 0
    torch.accelerator.current_accelerator = lambda check_available=False: GPU
    torch.accelerator.current_stream = torch.cuda.current_stream
    torch.Generator = Generator
    torch.__future__.set_overwrite_module_params_on_conversion(True)
    threading.Thread = WatchedThread
    Functions().__enter__()
    Operations().__enter__()


install()
