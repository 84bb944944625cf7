"""A network in the formats of other tools: each file is loaded again and compared before it stands under its name."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from copy import deepcopy
from dataclasses import dataclass
from importlib import import_module
from io import BytesIO, StringIO
from pathlib import Path
from textwrap import shorten
from typing import Any

import torch
from torch import Tensor, nn
from torch.export import Dim, ExportedProgram

from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.diagnostics.atomic_files import atomic_write
from bayesnas_graph.ir import Shape

LARGEST_DIFFERENCE = 1e-4  # between the outputs of a file and of its network, relative to the largest of them
LARGEST_ONNX = 2**31 - 1  # bytes that a file can have without others beside it
EXAMPLES = 2  # samples that a network is shown to an exporter with: one would be taken for the only size of a batch
CHECKED = (1, 3)  # sizes of the batches that a file is compared on, neither of them the exporter's
LONGEST_REASON = 240  # characters of what an exporter says

Inputs = tuple[Tensor, ...]
Run = Callable[..., Any]  # takes a batch of every input, gives a tensor or several


@dataclass(frozen=True, slots=True)
class Checked:
    """A file that computes what the network does."""

    path: Path
    difference: float  # the largest that was found, relative to the largest output
    bytes: int


@dataclass(frozen=True, slots=True)
class _Format:
    name: str
    export: Callable[[nn.Module, Inputs], bytes]
    load: Callable[[Path], Run]


def write_onnx(module: nn.Module, shape: Shape | Sequence[Shape], path: Path) -> Checked:
    """Write a network as ONNX, its weights included, for batches of any size.

    `shape` is that of one sample, or of one sample of each input. The module itself is not changed. Raises NasError if
    a package is missing, if the network is too large for one file or cannot be exported, if the file cannot be
    written, or if it does not compute what the network does; then there is the file that was there before, or none.
    """
    _need("onnx", "onnxscript", "onnxruntime")
    size = sum(tensor.numel() * tensor.element_size() for tensor in module.state_dict().values())
    if size > LARGEST_ONNX:
        message = f"cannot write the network as ONNX: its weights take {size / 2**30:.1f} GiB, and a file holds 2 GiB"
        raise NasError([Diagnostic("NAS618", message, help="write TorchScript, or a program of torch.export")])
    return _written(_Format("ONNX", _onnx, _load_onnx), module, shape, path)


def write_torchscript(module: nn.Module, shape: Shape | Sequence[Shape], path: Path) -> Checked:
    """Write a network as TorchScript, which C++ can load without Python. For the rest see `write_onnx`."""
    return _written(_Format("TorchScript", _torchscript, _load_torchscript), module, shape, path)


def write_program(module: nn.Module, shape: Shape | Sequence[Shape], path: Path) -> Checked:
    """Write a network as a program of torch.export, for batches of any size. For the rest see `write_onnx`."""
    return _written(_Format("torch.export", _program, _load_program), module, shape, path)


def _written(form: _Format, module: nn.Module, shape: Shape | Sequence[Shape], path: Path) -> Checked:
    random = torch.Generator().manual_seed(0)
    example, *batches = (_inputs(shape, size, random) for size in (EXAMPLES, *CHECKED))
    help = "operations in Python must be made of torch functions, whatever the values and the size of the batch"
    with _quiet(), _failing("NAS618", f"cannot write the network as {form.name}", help):
        network = deepcopy(module).cpu().float().eval()  # exporters leave traces in what they are given
        expected = [_tensors(network(*batch)) for batch in batches]
        content = form.export(network, example)
    if not all(output.isfinite().all() for outputs in expected for output in outputs):
        message = f"cannot write the network as {form.name}: not all its outputs are finite, so nothing can be compared"
        raise NasError([Diagnostic("NAS618", message, help="take weights from before the training went wrong")])
    with atomic_write(path) as file:
        file.write(content)
        file.flush()
        help = "write another format; an operation in Python must compute the same every time"
        with _quiet(), _failing("NAS617", f"`{path}` would not run as the network does", help):
            run = form.load(Path(file.name))
            found = [_tensors(run(*batch)) for batch in batches]
            difference = max(map(_difference, expected, found))
        if difference > LARGEST_DIFFERENCE:
            message = f"`{path}` would compute something else: outputs differ by {difference:.1e} of the largest"
            raise NasError([Diagnostic("NAS617", message, help=help)])
    return Checked(path, difference, len(content))


# ---------------------------------------------------------------------------------------- the formats


def _captured(network: nn.Module, example: Inputs) -> ExportedProgram:
    """The calls that a network makes, for batches of any size; an error if these depend on values."""
    program = torch.export.export(network, example, dynamic_shapes=_dynamic(example))
    for node in program.graph.nodes:
        node.meta.pop("stack_trace", None)  # it names files of this computer, which are of no use elsewhere
    return program


def _dynamic(example: Inputs) -> tuple[dict[int, Dim], ...]:
    return tuple({0: Dim("batch")} for _ in example)


def _onnx(network: nn.Module, example: Inputs) -> bytes:
    program = _captured(network, example)
    # The shapes are in the program already; given again, they tell what the size of the batch is called.
    written = torch.onnx.export(program, dynamo=True, dynamic_shapes=_dynamic(example), verbose=False)
    assert written is not None, "it is the exporter that gives something back"
    content: bytes = written.model_proto.SerializeToString()
    return content


def _load_onnx(path: Path) -> Run:
    onnxruntime = import_module("onnxruntime")
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4  # what is fatal; it does not write by way of Python
    options.intra_op_num_threads = 1  # a handful of samples
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    names = [given.name for given in session.get_inputs()]

    def run(*inputs: Tensor) -> list[Tensor]:
        values = {name: value.numpy() for name, value in zip(names, inputs, strict=True)}
        return [torch.from_numpy(output) for output in session.run(None, values)]

    return run


def _torchscript(network: nn.Module, example: Inputs) -> bytes:
    _captured(network, example)  # tracing alone would take one branch of an `if` for the whole network
    content = BytesIO()
    with _importable(network):
        torch.jit.save(torch.jit.trace(network, example, check_trace=False), content)  # type: ignore[no-untyped-call]
    return content.getvalue()


@contextmanager
def _importable(network: nn.Module) -> Iterator[None]:
    """The classes of a network as if a file had them: TorchScript does not read names such as `<network Net>` again."""
    classes = {type(part) for part in network.modules()}
    before = {cls: cls.__module__ for cls in classes if not cls.__module__.replace(".", "_").isidentifier()}
    for cls in before:
        cls.__module__ = "network"
    try:
        yield
    finally:
        for cls, name in before.items():
            cls.__module__ = name


def _load_torchscript(path: Path) -> Run:
    loaded: Run = torch.jit.load(path)  # type: ignore[no-untyped-call]
    return loaded


def _program(network: nn.Module, example: Inputs) -> bytes:
    content = BytesIO()
    torch.export.save(_captured(network, example), content)
    return content.getvalue()


def _load_program(path: Path) -> Run:
    with path.open("rb") as file:
        return torch.export.load(file).module()


# ---------------------------------------------------------------------------------------- comparing


def _inputs(shape: Shape | Sequence[Shape], size: int, random: torch.Generator) -> Inputs:
    one = tuple(length for length in shape if isinstance(length, int))
    shapes = [one] if one else [each for each in shape if not isinstance(each, int)]
    return tuple(torch.randn(size, *each, generator=random) for each in shapes)


def _tensors(outputs: Any) -> list[Tensor]:
    return [outputs] if isinstance(outputs, Tensor) else list(outputs)


def _difference(expected: list[Tensor], found: list[Tensor]) -> float:
    """The largest over all outputs; infinite if one is no number or has another shape."""
    differences = [
        (one - other).abs().max() / one.abs().max().clamp_min(torch.finfo(one.dtype).tiny)
        if one.shape == other.shape
        else torch.tensor(torch.inf)
        for one, other in zip(expected, found, strict=True)
    ]
    return float(torch.stack(differences).nan_to_num(torch.inf, torch.inf).max())


# ---------------------------------------------------------------------------------------- what goes wrong


def _need(*packages: str) -> None:
    for package in packages:
        try:
            with _quiet():
                import_module(package)
        except ImportError:
            help = "pip install 'bayesnas-graph[onnx]'"
            raise NasError([Diagnostic("NAS609", f"ONNX needs the package `{package}`", help=help)]) from None


@contextmanager
def _failing(code: str, message: str, help: str) -> Iterator[None]:
    """Whatever goes wrong inside is a diagnostic: exporters raise errors of any kind, and run what the user wrote."""
    try:
        with torch.no_grad():
            yield
    except Exception as error:
        raise NasError([Diagnostic(code, f"{message}: {_reason(error)}", help=help)]) from None


def _reason(error: BaseException) -> str:
    """What was wrong in the first place, in one line."""
    while error.__cause__ is not None:
        error = error.__cause__
    lines = str(error).splitlines() or [type(error).__name__]
    if any("Traceback" in line for line in lines):  # TorchScript puts one into its message, and the reason below it
        lines = [lines[-1].removeprefix("RuntimeError: ")]
    text = shorten(" ".join(lines), LONGEST_REASON, placeholder=" ...").rstrip(".")
    return text if text[1:2].isupper() else text[:1].lower() + text[1:]


@contextmanager
def _quiet() -> Iterator[None]:
    """Nothing inside is printed, warned of or logged."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings(), redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)
