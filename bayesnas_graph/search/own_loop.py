"""Curvatures for a training loop of one's own: what it passes is checked before anything is measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, NoReturn, get_args

import torch
from torch import Tensor, nn

from bayesnas_graph.bayes import BinaryCrossEntropy, CrossEntropy, Curvature, Estimator, Loss, SquaredError, curvature
from bayesnas_graph.diagnostics import Diagnostic, NasError

if TYPE_CHECKING:
    from bayesnas_graph.codegen.supernet import Supernet

AnyLoss = Loss | Callable[[Tensor, Tensor], Tensor]
Batches = Sequence[tuple[Tensor, Tensor]]

WITH_TARGETS = ("exact", "empirical")  # estimators that differentiate the loss itself, so that any function will do
SPACES_ONLY = ("recursive", "mean")  # estimators with a rule for every operation of a space


def measured(
    net: Supernet,
    batches: Batches,
    loss: AnyLoss,
    estimator: Estimator,
    generator: torch.Generator | None = None,
    head: Callable[[Any], Tensor] | None = None,
    model: Callable[[Tensor], Tensor] | None = None,
) -> Curvature:
    """Return the curvatures of a supernet, with what is around it. Modules are in evaluation mode meanwhile."""
    from bayesnas_graph.codegen.supernet import at_rest

    if head is not None and model is not None:
        raise TypeError("update takes a head or a model, not both")
    _check_estimator(loss, estimator, alone=head is None and model is None)
    if not batches:
        _fail("there are no batches to measure curvatures on", "pass a list of pairs of inputs and targets")
    whole = model if head is None else lambda x: head(net(x))
    with ExitStack() as resting:
        for module in (net, head, model):
            if isinstance(module, nn.Module):
                resting.enter_context(at_rest(module))
        for x, targets in batches:
            _check_batch(net, whole or net, loss, x, targets)
        return curvature(net, batches, loss, estimator, generator=generator, model=whole)  # type: ignore[arg-type]


def check_prior_state(state: Any, like: Mapping[str, Any]) -> None:
    """Raise NasError unless a state of a prior has the entries of another, and is for the same switches."""
    if not isinstance(state, Mapping) or set(state) != set(like):
        _reject("this is not the state of a prior", "pass what `Prior.state_dict` returned")
    if state["switches"] != like["switches"]:
        message = f"the state is not for the {len(like['switches'])} switches of this supernet"
        _reject(message, "compile the space that the state was saved with, with the same parameters")
    for name, value in like.items():
        if isinstance(value, Tensor) and not _fits(state[name], value, any_length=name in _LISTS):
            _reject(f"`{name}` of the state does not fit the switches", "pass what `Prior.state_dict` returned")


_LISTS = ("negative", "infinite", "undetermined")  # as long as there are such gates or switches


def _fits(value: object, like: Tensor, *, any_length: bool) -> bool:
    return isinstance(value, Tensor) and value.dtype == like.dtype and (any_length or value.shape == like.shape)


def _check_estimator(loss: AnyLoss, estimator: Estimator, *, alone: bool) -> None:
    """Raise NasError if an estimator cannot be used with a loss, or with modules around the supernet."""
    known = get_args(Estimator)
    if estimator not in known:
        raise _invalid(f"there is no estimator `{estimator}`", f"use one of {', '.join(known)}")
    if not alone and estimator in SPACES_ONLY:
        message = f"`{estimator}` has rules for the operations of a space, and none for modules around the supernet"
        raise _invalid(message, "use `fisher`, `ggn`, `empirical` or `exact`")
    if estimator not in WITH_TARGETS and not all(hasattr(loss, part) for part in ("diagonal", "columns", "draw")):
        name = getattr(loss, "__name__", type(loss).__name__)
        help = 'use a loss of `bayesnas_graph.bayes`, such as `SquaredError()`, or `estimator="empirical"`'
        raise _invalid(f"`{estimator}` needs the second derivatives of the loss, and `{name}` does not have them", help)


def _check_batch(net: Supernet, model: Callable[[Tensor], Tensor], loss: AnyLoss, x: Any, targets: Any) -> None:
    """Raise NasError if the loss cannot be computed for a batch, or is not what it seems."""
    if not isinstance(x, Tensor) or not isinstance(targets, Tensor):
        _fail(f"a batch is {_kind(x)} and {_kind(targets)}", "pass pairs of tensors: inputs and targets")
    if len(x) == 0 or targets.ndim == 0 or len(targets) != len(x):
        count = len(targets) if targets.ndim else "no"
        _fail(f"a batch has {len(x)} inputs and {count} targets", "pass a target for every input")
    outputs = _outputs_of_one(net, model, x)
    if not isinstance(outputs, Tensor) or outputs.ndim == 0 or len(outputs) != 1:
        found = f"of shape {_shape(outputs)}" if isinstance(outputs, Tensor) else f"as {_kind(outputs)}"
        _fail(f"there is one input, and outputs {found}", "return a tensor with a row for every input")
    if outputs.device != targets.device:
        _fail(f"targets are on `{targets.device}`, and outputs on `{outputs.device}`", "move batches to the network")
    if isinstance(loss, CrossEntropy):
        _check_classes(outputs, targets)
    elif isinstance(loss, SquaredError | BinaryCrossEntropy):
        _check_values(type(loss).__name__, outputs, targets)
    if isinstance(loss, BinaryCrossEntropy) and not bool(((targets >= 0) & (targets <= 1)).all()):
        _fail("`BinaryCrossEntropy` takes targets from 0 to 1", "use `SquaredError()` for other values")
    _check_loss(loss, outputs, targets[:1])


def _outputs_of_one(net: Supernet, model: Callable[[Tensor], Any], x: Tensor) -> Any:
    """Return the outputs for the first input. Slopes are taken sample by sample, so the supernet must see it as one."""
    seen: list[int] = []

    def look(_module: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        seen.append(len(inputs[0]))

    hook = net.module.register_forward_pre_hook(look)
    try:
        with torch.no_grad():
            outputs = model(x[:1])
    finally:
        hook.remove()
    if seen != [1]:
        found = f"with {seen[0]} rows" if len(seen) == 1 else f"{len(seen)} times"
        _fail(f"the model calls the supernet {found} for one input", "call it once, with a row for every input")
    return outputs


def _check_classes(outputs: Tensor, targets: Tensor) -> None:
    places, classes = outputs.shape[2:], outputs.shape[1] if outputs.ndim > 1 else 0
    if targets.is_floating_point() and targets.shape[1:] == outputs.shape[1:] and targets.ndim > 1:
        if not bool((targets >= 0).all()) or not torch.allclose(
            targets.sum(1), torch.ones_like(targets.sum(1)), atol=1e-3
        ):
            _fail("`CrossEntropy` takes probabilities that add up to 1", "use `SquaredError()` for a regression")
        return
    if targets.dtype != torch.long:
        help = "for a regression, use `SquaredError()`; otherwise, `targets.long()`"
        _fail(f"`CrossEntropy` takes the numbers of classes as int64, and targets are {_dtype(targets)}", help)
    if targets.shape[1:] != places:
        shape = ", ".join(map(str, ("N", *places)))
        _fail(
            f"`CrossEntropy` takes targets of shape ({shape}), and not {_shape(targets)}",
            "pass one class for each output",
        )
    if not 0 <= int(targets.min()) <= int(targets.max()) < classes:
        found = f"from {int(targets.min())} to {int(targets.max())}"
        _fail(f"the network has {classes} classes, and targets are {found}", "count classes from 0")


def _check_values(name: str, outputs: Tensor, targets: Tensor) -> None:
    if targets.shape[1:] != outputs.shape[1:]:
        shape = ", ".join(map(str, ("N", *outputs.shape[1:])))
        message = f"`{name}` takes targets of the shape of the outputs, ({shape}), and not {_shape(targets)}"
        _fail(message, "give targets that shape, for example with `targets.unsqueeze(1)`")
    if targets.dtype != outputs.dtype:
        message = f"`{name}` takes targets of the type of the outputs, {_dtype(outputs)}, and not {_dtype(targets)}"
        _fail(message, "convert them: `targets.to(torch.float32)`")


def _check_loss(loss: AnyLoss, outputs: Tensor, targets: Tensor) -> None:
    """Raise NasError if a loss fails, or returns more than a mean."""
    try:
        value: Any = loss(outputs, targets)
    except (RuntimeError, ValueError, IndexError, TypeError) as error:
        first = str(error).partition("\n")[0]
        shapes = f"outputs of shape {_shape(outputs)} and targets of shape {_shape(targets)}"
        _fail(f"the loss cannot be computed for {shapes}: {first}", "pass targets that the loss takes")
    if not isinstance(value, Tensor) or value.numel() != 1:
        _fail("the loss of a batch is not one number", "return the mean over samples")


def _shape(tensor: Tensor) -> str:
    return str(tuple(tensor.shape))


def _dtype(tensor: Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def _kind(value: object) -> str:
    return f"`{type(value).__name__}`"


def _fail(message: str, help: str) -> NoReturn:
    raise NasError([Diagnostic("NAS801", message, help=help)])


def _reject(message: str, help: str) -> NoReturn:
    raise NasError([Diagnostic("NAS802", message, help=help)])


def _invalid(message: str, help: str) -> NasError:
    return NasError([Diagnostic("NAS601", message, help=help)])
