"""A network in the formats of other tools: each file is loaded and compared before it gets its name."""

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
from bayesnas_graph.diagnostics.outputs import check_outputs, open_output
from bayesnas_graph.diagnostics.packages import check_packages
from bayesnas_graph.ir import Shape, TokenShape

LARGEST_DIFFERENCE = 1e-4  # between the outputs of a file and of its network, relative to the largest output
LARGEST_ONNX = 2**31 - 1  # bytes of a single file
EXAMPLES = 2  # samples that an exporter sees: with one, it would fix the batch size
CHECKED = (1, 3)  # batch sizes for comparing, different from the number of examples
LONGEST_REASON = 240  # characters of an exporter's message

Inputs = tuple[Tensor, ...]
Run = Callable[..., Any]  # takes a batch of every input, returns one or several tensors


@dataclass(frozen=True, slots=True)
class ExportedFile:
    """A file that computes the same as the network."""

    path: Path
    difference: float  # the largest difference, relative to the largest output
    bytes: int


@dataclass(frozen=True, slots=True)
class _Format:
    name: str
    export: Callable[[nn.Module, Inputs], bytes]
    load: Callable[[Path], Run]


def write_onnx(module: nn.Module, shape: Shape | Sequence[Shape], path: Path, *, force: bool = False) -> ExportedFile:
    """Write a network as ONNX, with its weights, for batches of any size.

    `shape` is that of one sample, or of one sample of each input. The module itself is not changed. Raises NasError if
    a package is missing, if the network is too large for one file or cannot be exported, if the file exists (unless
    `force` is true) or cannot be written, or if it does not compute the same; an existing file then stays as it was.
    """
    with _quiet():
        check_packages("onnx", "ONNX needs")
    size = sum(tensor.numel() * tensor.element_size() for tensor in module.state_dict().values())
    if size > LARGEST_ONNX:
        message = f"cannot write the network as ONNX: weights of {size / 2**30:.1f} GiB exceed the limit of 2 GiB"
        raise NasError([Diagnostic("NAS618", message, help="write TorchScript or torch.export instead")])
    return _written(_Format("ONNX", _onnx, _load_onnx), module, shape, path, force=force)


def write_torchscript(
    module: nn.Module, shape: Shape | Sequence[Shape], path: Path, *, force: bool = False
) -> ExportedFile:
    """Write a network as TorchScript, which C++ can load without Python. Otherwise like `write_onnx`."""
    return _written(_Format("TorchScript", _torchscript, _load_torchscript), module, shape, path, force=force)


def write_program(
    module: nn.Module, shape: Shape | Sequence[Shape], path: Path, *, force: bool = False
) -> ExportedFile:
    """Write a network as a program of torch.export, for batches of any size. Otherwise like `write_onnx`."""
    return _written(_Format("torch.export", _program, _load_program), module, shape, path, force=force)


def _written(
    form: _Format, module: nn.Module, shape: Shape | Sequence[Shape], path: Path, *, force: bool
) -> ExportedFile:
    check_outputs([(path, None)], force=force)
    random = torch.Generator().manual_seed(0)
    example, *batches = (_inputs(shape, size, module, random) for size in (EXAMPLES, *CHECKED))
    help = "operations in Python must consist of torch functions, independent of values and batch size"
    with _quiet(), _failing("NAS618", f"cannot write the network as {form.name}", help):
        network = deepcopy(module).cpu().float().eval()  # exporters change the module
        expected = [_tensors(network(*batch)) for batch in batches]
        content = form.export(network, example)
    if not all(output.isfinite().all() for outputs in expected for output in outputs):
        message = f"cannot write the network as {form.name}: its outputs are not all finite, so they cannot be compared"
        raise NasError([Diagnostic("NAS618", message, help="use weights from before the training diverged")])
    with open_output(path, force=force) as file:
        file.write(content)
        file.flush()
        help = "write another format; an operation in Python must be deterministic"
        with _quiet(), _failing("NAS617", f"`{path}` would not run like the network", help):
            run = form.load(Path(file.name))
            actual = [_tensors(run(*batch)) for batch in batches]
            difference = max(map(_difference, expected, actual))
        if difference > LARGEST_DIFFERENCE:
            message = f"`{path}` gives different results: outputs differ by {difference:.1e} of the largest"
            raise NasError([Diagnostic("NAS617", message, help=help)])
    return ExportedFile(path, difference, len(content))


# ---------------------------------------------------------------------------------------- the formats


def _captured(network: nn.Module, example: Inputs) -> ExportedProgram:
    """Capture the calls of a network, for batches of any size; fails if they depend on values."""
    program = torch.export.export(network, example, dynamic_shapes=_dynamic(example))
    for node in program.graph.nodes:
        node.meta.pop("stack_trace", None)  # it contains paths of this computer
    return program


def _dynamic(example: Inputs) -> tuple[dict[int, Dim], ...]:
    return tuple({0: Dim("batch")} for _ in example)


def _onnx(network: nn.Module, example: Inputs) -> bytes:
    program = _captured(network, example)
    # The program has the shapes already; passed again, they name the batch dimension.
    written = torch.onnx.export(program, dynamo=True, dynamic_shapes=_dynamic(example), verbose=False)
    assert written is not None, "the new exporter returns a program"
    content: bytes = written.model_proto.SerializeToString()
    return content


def _load_onnx(path: Path) -> Run:
    onnxruntime = import_module("onnxruntime")
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4  # fatal errors only; it does not log through Python
    options.intra_op_num_threads = 1  # a handful of samples
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    names = [node.name for node in session.get_inputs()]

    def run(*inputs: Tensor) -> list[Tensor]:
        values = {name: value.numpy() for name, value in zip(names, inputs, strict=True)}
        return [torch.from_numpy(output) for output in session.run(None, values)]

    return run


def _torchscript(network: nn.Module, example: Inputs) -> bytes:
    _captured(network, example)  # tracing alone would miss branches of an `if`
    content = BytesIO()
    with _importable(network):
        torch.jit.save(torch.jit.trace(network, example, check_trace=False), content)  # type: ignore[no-untyped-call]
    return content.getvalue()


@contextmanager
def _importable(network: nn.Module) -> Iterator[None]:
    """Give the classes of a network an importable module name: TorchScript cannot read `<network Net>` again."""
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


def _inputs(shape: Shape | Sequence[Shape], size: int, module: nn.Module, random: torch.Generator) -> Inputs:
    one = tuple(length for length in shape if isinstance(length, int))
    shapes = [each for each in shape if not isinstance(each, int)]
    if one:
        shapes = [TokenShape(one) if isinstance(shape, TokenShape) else one]
    return tuple(_input(each, size, module, random) for each in shapes)


def _input(shape: Shape, size: int, module: nn.Module, random: torch.Generator) -> Tensor:
    """Random numbers, or random tokens that the module knows."""
    if isinstance(shape, TokenShape):
        counts = [getattr(part, "num_embeddings", None) for part in module.modules()]
        known = min((count for count in counts if isinstance(count, int)), default=1)
        return torch.randint(known, (size, *shape), generator=random)
    return torch.randn(size, *shape, generator=random)


def _tensors(outputs: Any) -> list[Tensor]:
    return [outputs] if isinstance(outputs, Tensor) else list(outputs)


def _difference(expected: list[Tensor], actual: list[Tensor]) -> float:
    """Return the largest difference over all outputs; infinite if one is not finite or has another shape."""
    differences = [
        (one - other).abs().max() / one.abs().max().clamp_min(torch.finfo(one.dtype).tiny)
        if one.shape == other.shape
        else torch.tensor(torch.inf)
        for one, other in zip(expected, actual, strict=True)
    ]
    return float(torch.stack(differences).nan_to_num(torch.inf, torch.inf).max())


# ---------------------------------------------------------------------------------------- errors


@contextmanager
def _failing(code: str, message: str, help: str) -> Iterator[None]:
    """Turn any error inside into a diagnostic: exporters raise all kinds of errors, and run user code."""
    try:
        with torch.no_grad():
            yield
    except Exception as error:
        raise NasError([Diagnostic(code, f"{message}: {_reason(error)}", help=help)]) from None


def _reason(error: BaseException) -> str:
    """Return the original cause, in one line."""
    while error.__cause__ is not None:
        error = error.__cause__
    lines = str(error).splitlines() or [type(error).__name__]
    if any("Traceback" in line for line in lines):  # TorchScript includes one in its message, with the reason below it
        lines = [lines[-1].removeprefix("RuntimeError: ")]
    text = shorten(" ".join(lines), LONGEST_REASON, placeholder=" ...").rstrip(".")
    return text if text[1:2].isupper() else text[:1].lower() + text[1:]


@contextmanager
def _quiet() -> Iterator[None]:
    """Suppress output, warnings and logs."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings(), redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)
