"""Export to the formats of other tools: what the files compute, and failures."""

from __future__ import annotations

import errno
import logging
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from bayesnas_graph.codegen.export.formats import ExportedFile, write_onnx, write_program, write_torchscript
from bayesnas_graph.diagnostics import CODES, Diagnostic, NasError
from bayesnas_graph.ir import TokenShape
from bayesnas_graph.ir.ops import PRIMITIVES
from tests.codegen.export.networks import EVERYTHING, NETWORKS, SEQUENCES, network, searched, tiny
from tests.helpers import graph

Write = Callable[..., ExportedFile]
WRITERS: dict[str, Write] = {"net.onnx": write_onnx, "net.pt": write_torchscript, "net.pt2": write_program}
QUICK = ["net.pt", "net.pt2"]  # ONNX takes seconds for any network


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def outputs(path: Path, *inputs: Tensor) -> list[Tensor]:
    """The outputs of a file in its own runtime."""
    if path.suffix == ".onnx":
        import onnxruntime  # type: ignore[import-untyped]

        session = onnxruntime.InferenceSession(path.read_bytes(), providers=["CPUExecutionProvider"])
        names = [given.name for given in session.get_inputs()]
        found = session.run(None, {name: x.numpy() for name, x in zip(names, inputs, strict=True)})
        return [torch.from_numpy(value) for value in found]
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        loaded = torch.jit.load(path) if path.suffix == ".pt" else torch.export.load(path).module()  # type: ignore[no-untyped-call]
        value = loaded(*inputs)
    return [value] if isinstance(value, Tensor) else list(value)


def problem(write: Write, module: nn.Module, shape: Any, path: Path) -> Diagnostic:
    """The one thing that is wrong, in one line."""
    with pytest.raises(NasError) as error:
        write(module, shape, path)
    (found,) = error.value.diagnostics
    assert found.code in CODES
    assert "\n" not in found.message
    assert error.value.__suppress_context__ or error.value.__context__ is None
    return found


# ---------------------------------------------------------------------------------------- files that are right


def test_everything_is_everything() -> None:
    names = {node.op.name for text in (EVERYTHING, SEQUENCES) for node in graph(text)}
    assert names >= PRIMITIVES.keys() - {"identity"}, "which is an edge, and no call"


@pytest.mark.parametrize(
    ("file", "name"),
    [
        *(("net.onnx", name) for name in ("everything", "sequences", "searched")),
        *(("net.pt", name) for name in ("everything", "sequences", "searched", "lenet5", "nasbench201")),
        *(("net.pt2", name) for name in ("everything", "sequences", "resnet18")),
    ],
)
def test_networks(tmp_path: Path, capfd: pytest.CaptureFixture[str], file: str, name: str) -> None:
    module, shapes = network(NETWORKS[name]())
    path = tmp_path / "new" / file
    checked = WRITERS[file](module, shapes if len(shapes) > 1 else shapes[0], path)
    assert checked == ExportedFile(path, checked.difference, path.stat().st_size)
    assert 0 <= checked.difference < 1e-5
    assert list(path.parent.iterdir()) == [path]
    assert capfd.readouterr() == ("", "")
    inputs = [
        torch.randint(50, (5, *shape)) if isinstance(shape, TokenShape) else torch.randn(5, *shape) for shape in shapes
    ]
    with torch.no_grad():
        expected = module(*inputs)
    expected = [expected] if isinstance(expected, Tensor) else list(expected)
    torch.testing.assert_close(outputs(path, *inputs), expected, rtol=1e-4, atol=1e-4)


def test_a_searched_network_has_factors() -> None:
    assert "rescale" in {node.op.name for node in searched()}


def test_onnx_is_one_file_for_any_batch(tmp_path: Path) -> None:
    import onnx

    module, shape = tiny()
    write_onnx(module, shape, tmp_path / "net.onnx")
    model = onnx.load(tmp_path / "net.onnx", load_external_data=False)
    onnx.checker.check_model(model)
    (given,), (result,) = model.graph.input, model.graph.output
    assert [d.dim_param or d.dim_value for d in given.type.tensor_type.shape.dim] == ["batch", 1, 4, 4]
    assert [d.dim_param or d.dim_value for d in result.type.tensor_type.shape.dim] == ["batch", 3]
    held = sum(len(tensor.raw_data) for tensor in model.graph.initializer)
    assert held >= 4 * sum(p.numel() for p in module.parameters())
    assert str(Path(torch.__file__).parent).encode() not in (tmp_path / "net.onnx").read_bytes()


def test_the_module_stays_as_it_is(tmp_path: Path) -> None:
    module, shape = tiny()
    module.double().train()
    before = {name: value.clone() for name, value in module.state_dict().items()}
    for file in QUICK:
        assert WRITERS[file](module, shape, tmp_path / file).difference < 1e-5
    assert all(part.training for part in module.modules())
    for name, value in module.state_dict().items():
        assert value.dtype == torch.float64
        assert value.equal(before[name])


def test_random_numbers_and_warnings_stay_as_they_are(tmp_path: Path) -> None:
    module, shape = tiny()
    logging.disable(logging.DEBUG)
    try:
        before = (torch.get_rng_state(), list(warnings.filters), sys.stdout, sys.stderr)
        write_torchscript(module, shape, tmp_path / "net.pt")
        assert torch.get_rng_state().equal(before[0])
        assert (warnings.filters, sys.stdout, sys.stderr) == before[1:]
        assert logging.root.manager.disable == logging.DEBUG
    finally:
        logging.disable(logging.NOTSET)


def test_outputs_that_are_all_zero(tmp_path: Path) -> None:
    module = nn.Linear(3, 2)
    nn.init.zeros_(module.weight)
    nn.init.zeros_(module.bias)
    assert write_torchscript(module, (3,), tmp_path / "net.pt").difference == 0


# ---------------------------------------------------------------------------------------- what no format can hold


class Branching(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x if x.sum() > 0 else -x


class TwoAtATime(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.reshape(2, -1) if len(x) == 2 else x.flatten(1)


class Bessel(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.as_tensor(torch.special.bessel_j0(x))


class Failing(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        raise OSError("a file of the user's\nis gone")


class Noisy(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x + torch.rand_like(x)


@pytest.mark.parametrize("file", WRITERS)
@pytest.mark.parametrize(
    ("module", "reason"),
    [
        (Branching(), "could not guard on data-dependent expression"),
        (TwoAtATime(), "specialized it to be a constant (2)"),
        (Failing(), "as {format}: a file of the user's is gone"),
    ],
)
def test_networks_that_cannot_be_followed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], file: str, module: nn.Module, reason: str
) -> None:
    found = problem(WRITERS[file], module, (2, 3), tmp_path / file)
    name = {"net.onnx": "ONNX", "net.pt": "TorchScript", "net.pt2": "torch.export"}[file]
    assert found.code == "NAS618"
    assert found.message.startswith(f"cannot write the network as {name}: ")
    assert reason.format(format=name) in found.message
    assert len(found.message) < 300
    assert not list(tmp_path.iterdir())
    assert capfd.readouterr() == ("", "")


def test_an_operation_that_onnx_does_not_know(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    found = problem(write_onnx, Bessel(), (2, 3), tmp_path / "net.onnx")
    assert found.code == "NAS618"
    assert found.message.startswith("cannot write the network as ONNX: no ONNX function found for <OpOverload(")
    assert not list(tmp_path.iterdir())
    assert capfd.readouterr() == ("", "")
    assert write_program(Bessel(), (2, 3), tmp_path / "net.pt2").difference == 0


def test_too_large_for_onnx(tmp_path: Path) -> None:
    found = problem(write_onnx, nn.Linear(2**15, 2**15, device="meta"), (2**15,), tmp_path / "net.onnx")
    assert found.code == "NAS618"
    assert found.message.endswith("weights of 4.0 GiB exceed the limit of 2 GiB")


def test_nan_outputs(tmp_path: Path) -> None:
    module, shape = tiny()
    nn.init.constant_(next(module.parameters()), torch.nan)
    found = problem(write_torchscript, module, shape, tmp_path / "net.pt")
    assert found.code == "NAS618"
    assert "its outputs are not all finite" in found.message
    assert not list(tmp_path.iterdir())


# ---------------------------------------------------------------------------------------- files that are wrong


@pytest.mark.parametrize("file", QUICK)
def test_a_file_that_computes_something_else(tmp_path: Path, file: str) -> None:
    (tmp_path / file).write_text("from before")
    assert problem(WRITERS[file], Noisy(), (2, 3), tmp_path / file).code == "NAS012"
    found = problem(partial(WRITERS[file], force=True), Noisy(), (2, 3), tmp_path / file)
    assert found.code == "NAS617"
    assert found.message.startswith(f"`{tmp_path / file}` gives different results: outputs differ by ")
    assert [path.name for path in tmp_path.iterdir()] == [file]
    assert (tmp_path / file).read_text() == "from before"


def test_a_file_with_other_shapes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trace: Any = torch.jit.trace
    monkeypatch.setattr(torch.jit, "trace", lambda module, *rest, **options: trace(nn.Flatten(0), *rest, **options))
    found = problem(write_torchscript, nn.Flatten(1), (2, 3), tmp_path / "net.pt")
    assert found.code == "NAS617"
    assert "outputs differ by inf" in found.message


def test_a_file_that_does_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trace: Any = torch.jit.trace
    wrong = nn.Linear(4, 4)
    monkeypatch.setattr(torch.jit, "trace", lambda _, example, **options: trace(wrong, torch.ones(1, 4), **options))
    found = problem(write_torchscript, nn.Linear(3, 4), (3,), tmp_path / "net.pt")
    assert found.code == "NAS617"
    assert "would not run like the network: mat1 and mat2" in found.message
    assert not list(tmp_path.iterdir())


def test_a_file_that_cannot_be_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.export, "save", lambda _, file: file.write(b"nothing"))
    found = problem(write_program, *tiny(), tmp_path / "net.pt2")
    assert found.code == "NAS617"
    assert not list(tmp_path.iterdir())


# ---------------------------------------------------------------------------------------- what is missing


@pytest.mark.parametrize("package", ["onnx", "onnxscript", "onnxruntime"])
def test_a_package_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    found = problem(write_onnx, *tiny(), tmp_path / "net.onnx")
    assert (found.code, found.message) == ("NAS609", f"ONNX needs the package `{package}`, which is not installed")
    assert found.help == f"install it with `pip install {package}`"


def test_a_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("something")
    found = problem(write_torchscript, *tiny(), tmp_path / "taken" / "net.pt")
    assert (found.code, found.message) == ("NAS012", f"cannot write `{tmp_path}/taken/net.pt`: not a directory")
    assert (tmp_path / "taken").read_text() == "something"


@pytest.mark.parametrize("file", QUICK)
def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str) -> None:
    def no_room(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", no_room)
    found = problem(WRITERS[file], *tiny(), tmp_path / file)
    assert (found.code, found.message) == ("NAS012", f"cannot write `{tmp_path}/{file}`: no space left on device")
    assert not list(tmp_path.iterdir())
