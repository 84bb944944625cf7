"""The numbers in a call: what each of them is, and what torch takes where none is given."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bayesnas_graph.ir import Expression, ModuleCall

Plain = int | float | bool

_WINDOW: dict[str, Plain] = {"stride": 1, "padding": 0, "dilation": 1, "groups": 1, "bias": True}
_NORM: dict[str, Plain] = {"eps": 1e-5, "momentum": 0.1}

# What a constructor is given by position, and what it takes for each keyword that is left out.
SIGNATURES: dict[str, tuple[tuple[str, ...], dict[str, Plain]]] = {
    "nn.Conv2d": (("channels", "width", "kernel"), _WINDOW),
    "ReluConv2d": (("channels", "width", "kernel"), _WINDOW),
    "nn.Linear": (("channels", "width"), {"bias": True}),
    "nn.BatchNorm1d": (("norm",), {**_NORM, "affine": True}),
    "nn.BatchNorm2d": (("norm",), {**_NORM, "affine": True}),
    "LightBatchNorm1d": (("norm",), _NORM),
    "LightBatchNorm2d": (("norm",), _NORM),
    "nn.GroupNorm": (("groups", "norm"), {"eps": 1e-5, "affine": True}),
    "nn.Dropout": (("p",), {}),
}

# What the numbers in an expression are, by the function that it begins with.
_FUNCTIONS = {
    "F.max_pool2d": ("kernel", "stride", "padding"),
    "F.avg_pool2d": ("kernel", "stride", "padding"),
    "F.pad": ("extra",) * 6,
    "torch.cat": ("count",),
    "phases": ("step",),
    "interleaved": ("step",),
    "subsampled": ("step",),
}

_NUMBER = re.compile(r"(?<![\w{.])(\d+(?:\.\d+)?(?:e-?\d+)?)(?![\w}])")


@dataclass(frozen=True, slots=True)
class Number:
    """A number in a call, and what it is there."""

    role: str
    value: Plain


def keywords(call: ModuleCall) -> dict[str, Plain]:
    """All keywords of a call, with the values of those that are left out."""
    _, defaults = SIGNATURES.get(call.constructor, ((), {}))
    return defaults | dict(call.kwargs)


def numbers(call: ModuleCall | Expression) -> list[Number]:
    """Every number in a call, those that are left out included.

    >>> [number.role for number in numbers(Expression("F.max_pool2d({0}, 3, 2, 1)"))]
    ['kernel', 'stride', 'padding']
    """
    if isinstance(call, ModuleCall):
        roles, _ = SIGNATURES.get(call.constructor, ((), {}))
        given = [Number(roles[i] if i < len(roles) else "size", value) for i, value in enumerate(call.args)]
        return given + [Number(name, value) for name, value in keywords(call).items()]
    roles = _FUNCTIONS.get(call.template.partition("(")[0], ())
    found = [float(text) if "." in text or "e" in text else int(text) for text in _NUMBER.findall(call.template)]
    return [Number(roles[i] if i < len(roles) else "number", value) for i, value in enumerate(found)]


def skeleton(call: ModuleCall | Expression) -> object:
    """A call without its numbers: equal for two calls that differ in numbers only."""
    if isinstance(call, ModuleCall):
        return call.constructor, len(call.args), tuple(keywords(call))
    return _NUMBER.sub("", call.template), call.helper


def constructed(call: ModuleCall, texts: Sequence[str | None]) -> str:
    """The call of a constructor, in which texts stand for some of its numbers.

    >>> constructed(ModuleCall("Linear", (8, 10)), ("width", None, None))
    'nn.Linear(width, 10)'
    """
    _, defaults = SIGNATURES.get(call.constructor, ((), {}))
    given = [text or repr(value) for text, value in zip(texts, call.args, strict=False)]
    for text, (name, value) in zip(texts[len(call.args) :], keywords(call).items(), strict=True):
        if text or name not in defaults or value != defaults[name]:
            given.append(f"{name}={text or repr(value)}")
    return f"{call.constructor}({', '.join(given)})"


def expressed(call: Expression, texts: Sequence[str | None]) -> Expression:
    """An expression in which texts stand for some of its numbers.

    >>> expressed(Expression("F.max_pool2d({0}, 3, 2, 1)"), (None, "self.stride", None)).template
    'F.max_pool2d({0}, 3, self.stride, 1)'
    """
    pieces = _NUMBER.split(call.template)  # text, number, text, ..., number, text
    for i, text in enumerate(texts):
        if text:
            enclosed = pieces[2 * i].endswith(("(", ", ")) and pieces[2 * i + 2].startswith((")", ","))
            pieces[2 * i + 1] = text if enclosed or " " not in text else f"({text})"
    return replace(call, template="".join(pieces))
