import pytest
import torch

from dekm.nn import dense, kernels
from dekm.nn.kernels import Processor, Rules, rules_of
from dekm.nn.networks import ConvAutoencoder, MLPAutoencoder, xavier_initialize
from dekm.nn.training import Step, squared_error

ARM = Processor("other", "DEFAULT", onednn=False)


def test_dense_layers_use_onednn_where_mkl_does_not_use_avx512():
    assert rules_of(Processor("amd", "AVX512", onednn=True)).dense == "onednn"
    assert rules_of(Processor("amd", "AVX2", onednn=True)).dense == "blas"
    assert rules_of(Processor("intel", "AVX512", onednn=True)).dense == "blas"


@pytest.mark.parametrize(
    "processor",
    [
        ARM,
        Processor("other", "SVE256", onednn=True),
        Processor("other", "NO AVX", onednn=True),
        Processor("amd", "AVX512", onednn=False),
    ],
)
def test_other_processors_and_builds_use_the_kernels_of_torch(processor):
    assert rules_of(processor) == Rules()


@pytest.mark.parametrize(
    ("text", "vendor"),
    [
        ("vendor_id\t: AuthenticAMD\n", "amd"),
        ("vendor_id\t: GenuineIntel\n", "intel"),
        ("model name\t: \udcff\nvendor_id\t: GenuineIntel\n", "intel"),
        ("CPU implementer\t: 0x41\n", "other"),
    ],
)
def test_the_vendor_is_read_from_the_kernel(text, vendor, tmp_path, monkeypatch):
    file = tmp_path / "cpuinfo"
    file.write_text(text, encoding="utf-8", errors="surrogateescape")
    monkeypatch.setattr(kernels, "CPUINFO", file)
    assert kernels.vendor() == vendor


@pytest.mark.parametrize("name", ["missing", ""])
def test_the_vendor_is_known_without_a_file_of_the_kernel_that_can_be_read(name, tmp_path, monkeypatch):
    monkeypatch.setattr(kernels, "CPUINFO", tmp_path / name)
    monkeypatch.setattr("platform.processor", lambda: "Intel64 Family 6 Model 85 Stepping 7, GenuineIntel")
    assert kernels.vendor() == "intel"
    monkeypatch.setattr("platform.processor", lambda: "arm")
    assert kernels.vendor() == "other"


def test_the_record_names_the_processor_and_its_rules():
    decided = kernels.decided()
    assert decided["instruction_set"] == torch.backends.cpu.get_cpu_capability()
    assert decided == kernels.this_processor()._asdict() | rules_of(kernels.this_processor())._asdict()


def losses(shape):
    """Losses of five steps."""
    generator = torch.Generator().manual_seed(0)
    X = torch.rand(20, *shape, generator=generator)
    network = ConvAutoencoder(shape, 3, (4, 6, 8)) if len(shape) == 3 else MLPAutoencoder(shape, 3, (9, 7))
    xavier_initialize(network, generator)
    step = Step(lambda i: squared_error(network(X[i]), X[i]), network.parameters(), lr=1e-3)
    return [float(step(torch.arange(len(X)))) for _ in range(5)]


@pytest.mark.parametrize("shape", [(8, 8, 1), (13, 9, 3), (16, 16, 2), (30,)])
def test_a_machine_without_onednn_takes_the_same_steps(shape, monkeypatch):
    expected = losses(shape)

    def refuse(*_):
        raise AssertionError("oneDNN is called")

    monkeypatch.setattr(dense, "product", refuse)
    monkeypatch.setattr(kernels, "rules", lambda: rules_of(ARM))
    assert losses(shape) == pytest.approx(expected, rel=1e-5)
    assert expected[-1] < expected[0]
