"""Operations that the user wrote in Python. They are imported only if the user allowed it."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from keyword import iskeyword
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar

from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.ir import Coupling, Link, Mask, ModuleCall, Op, Plain, Shape, ShapeError, Value, numbers
from bayesnas_graph.ir.ops.base import FLOAT
from bayesnas_graph.ir.ops.curvature import Local
from bayesnas_graph.ir.ops.tracing import multiply_adds, saved_by

if TYPE_CHECKING:
    from torch import Tensor, nn

PROBES = 64  # the most vectors sent back through an unknown operation to find its curvature


@dataclass(frozen=True)
class PythonOp(Op):
    """A user-defined class, `package.module:Class`, called with the arguments in the file as keywords.

    Its shapes and weights are determined by running it on the meta device, which computes no values.
    """

    name: ClassVar[str] = "python"
    is_python: ClassVar[bool] = True
    inputs: ClassVar[int | None] = None
    pure: ClassVar[bool] = False

    called: str
    target: str
    values: tuple[tuple[str, Plain], ...] = ()
    allowed: bool = field(default=True, compare=False)  # whether the user allowed that it is imported

    @property
    def label(self) -> str:
        return self.called

    @property
    def kind(self) -> object:
        return self.called, self.target, super().kind

    def shape(self, *inputs: Shape) -> Shape:
        self._check()
        return _trace(self, repr(self.values), inputs)[0]

    def parameters(self, *inputs: Shape) -> int:
        self._check()
        return _trace(self, repr(self.values), inputs)[1]

    def flops(self, *inputs: Shape) -> int:
        """Counted by running it on the meta device, with the functions of torch that it calls."""
        self._check()
        return _count(self, repr(self.values), inputs)[0]

    def counts_all_flops(self, *inputs: Shape) -> bool:
        self._check()
        return _count(self, repr(self.values), inputs)[1]

    def operations(self, *inputs: Shape) -> int:
        return 2 * self.flops(*inputs)

    def saved_bytes(self, size: int, *inputs: Shape) -> int:
        """Counted by running it on the meta device, in single precision."""
        self._check()
        return _save(self, repr(self.values), inputs) * size // FLOAT

    def torch(self, *inputs: Shape) -> ModuleCall:
        self._check()
        module, name = _parts(self)
        return ModuleCall(name, (), numbers(**dict(self.values)), module)

    def settings(self) -> dict[str, Value]:
        return dict(self.values)

    def default(self, argument: str) -> Value:  # only the user's class knows
        return None

    def curvature(self, local: Local) -> tuple[Tensor, ...]:
        """The diagonal of `J^T diag(H) J`, the Gauss-Newton part, by backward passes through the module.

        Exact if a sample has at most `PROBES` outputs, else an unbiased estimate from as many random signs, which is
        the same every time.
        """
        inputs, _, output = _recorded(local)
        return _squared_jacobian(output, inputs, local.hessian, together=False)

    def weight_curvature(self, local: Local) -> dict[str, Tensor]:
        """The same for the parameters, which all samples share: exact if all samples together have few outputs."""
        _, parameters, output = _recorded(local)
        totals = _squared_jacobian(output, tuple(parameters.values()), local.hessian, together=True)
        return {name: total / len(output) for name, total in zip(parameters, totals, strict=True)}

    def coupling(self, *inputs: Shape) -> Coupling:
        """Unknown: no channel can be removed without all others, on either side."""
        out = self.shape(*inputs)[0]
        return Coupling(tuple(Link(1, shape[0], out) for shape in inputs))

    def nonzero_outputs(self, nonzero: tuple[Mask, ...], tensors: Mapping[str, Any], *inputs: Shape) -> Mask:
        return (True,) * self.shape(*inputs)[0]

    def _check(self) -> None:
        """Raise NasError if it may not be imported. Whatever imports it, or writes source that does, asks here."""
        if not self.allowed:
            help = "if you trust the code, read the graph with `allow_python=True`"
            raise NasError([Diagnostic("NAS105", f"the graph uses `{self.target}`, which is Python code", help=help)])


def _parts(op: PythonOp) -> tuple[str, str]:
    """The module and class that an operation names. Only names are allowed, no other Python."""
    module, _, name = op.target.partition(":")
    if not all(part.isidentifier() and not iskeyword(part) for part in (*module.split("."), *name.split("."))):
        raise ShapeError(f"`{op.target}` is not of the form `package.module:Class`")
    return module, name


def _load(op: PythonOp) -> type[nn.Module]:
    module_name, class_name = _parts(op)
    try:
        loaded: Any = importlib.import_module(module_name)
        for part in class_name.split("."):
            loaded = getattr(loaded, part)
    except Exception as error:
        raise ShapeError(f"`{op.target}` cannot be imported: {error} (is its folder on PYTHONPATH?)") from error
    cls: type[nn.Module] = loaded
    return cls


@cache
def _trace(op: PythonOp, _: str, inputs: tuple[Shape, ...]) -> tuple[Shape, int]:
    """The shape and the number of parameters. The text distinguishes `1` and `True`, which are equal in Python."""
    import torch

    cls = _load(op)
    try:
        with torch.device("meta"):
            module = cls(**dict(op.values)).eval()
            output = module(*(torch.empty(2, *shape) for shape in inputs))
    except Exception as error:  # whatever the user's code raises becomes a diagnostic
        raise ShapeError(f"`{op.target}` failed on the meta device: {error}") from error
    if not isinstance(output, torch.Tensor) or output.ndim < 2 or output.shape[0] != 2:
        raise ShapeError(f"`{op.target}` did not return one tensor with the batch dimension first")
    return tuple(output.shape[1:]), sum(p.numel() for p in module.parameters())


@cache
def _count(op: PythonOp, _: str, inputs: tuple[Shape, ...]) -> tuple[int, bool]:
    """The multiply-adds for one sample, and whether these are all."""
    import torch

    def run() -> None:
        with torch.device("meta"), torch.no_grad():
            _load(op)(**dict(op.values)).eval()(*(torch.empty(1, *shape) for shape in inputs))

    return multiply_adds(run)


@cache
def _save(op: PythonOp, _: str, inputs: tuple[Shape, ...]) -> int:
    """The bytes per sample that it saves for its backward pass, besides inputs and weights."""
    import torch

    with torch.device("meta"):
        module = _load(op)(**dict(op.values)).train()
        given = [torch.empty(2, *shape, requires_grad=True) for shape in inputs]
    return saved_by(lambda: module(*given), [*given, *module.parameters(), *module.buffers()]) // 2


def _recorded(local: Local) -> tuple[tuple[Tensor, ...], dict[str, Tensor], Tensor]:
    """The inputs, the parameters, and the output computed again from them with autograd."""
    import torch

    inputs = tuple(x.detach().requires_grad_() for x in local.inputs)
    parameters = {name: p.detach().requires_grad_() for name, p in local.module.named_parameters()}
    with torch.enable_grad():
        output = torch.func.functional_call(local.module, parameters, inputs)
    return inputs, parameters, output


def _squared_jacobian(output: Tensor, of: tuple[Tensor, ...], hessian: Tensor, *, together: bool) -> tuple[Tensor, ...]:
    """For each tensor the sum over outputs of their Hessian times the square of their derivative.

    With vectors `v` whose outer products add up to the identity, it is the sum of `(J^T (v sqrt(H)))^2`; where
    the Hessian is negative, so is the square.
    """
    import torch

    totals = [torch.zeros_like(x) for x in of]
    if not (of and output.requires_grad):  # a constant
        return tuple(totals)
    for probe in _probes(hessian, together):
        for sign in (1, -1):
            root = (sign * hessian).clamp(min=0).sqrt()
            if root.any():
                pulled = torch.autograd.grad(output, of, probe * root, retain_graph=True, materialize_grads=True)
                totals = [total + sign * x.square() for total, x in zip(totals, pulled, strict=True)]
    return tuple(totals)


def _probes(like: Tensor, together: bool) -> Iterator[Tensor]:
    """Vectors whose outer products add up to the identity: one output after another or, on average, random signs.

    Samples do not mix in the module, so one vector serves all of them, unless they are taken together.
    """
    import torch

    shape = like.shape if together else (1, *like.shape[1:])
    if prod(shape) <= PROBES:
        yield from torch.eye(prod(shape), dtype=like.dtype, device=like.device).reshape(-1, *shape)
        return
    generator = torch.Generator(like.device).manual_seed(0)
    for _ in range(PROBES):
        signs = torch.randint(2, like.shape, generator=generator, device=like.device) * 2 - 1
        yield signs.to(like.dtype) / PROBES**0.5
