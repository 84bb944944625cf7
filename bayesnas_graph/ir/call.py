"""How torch computes an operation, as data: to build a module, or to print source.

Every number in a call has a role, such as `width` or `kernel`, which the printers use.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from string import Formatter

Scalar = int | float | bool | str
Plain = Scalar | tuple[Scalar, ...]  # only classes of the user take strings and arrays

TensorCut = tuple[str, int, tuple[int, ...]]  # the name of a tensor, an axis, and the entries that remain

_UNQUOTED = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:/ ")

# Defaults of torch for omitted keywords.
DEFAULTS: Mapping[str, Plain] = {
    "stride": 1,
    "padding": 0,
    "output_padding": 0,
    "dilation": 1,
    "groups": 1,
    "bias": True,
    "eps": 1e-5,
    "momentum": 0.1,
    "affine": True,
    "elementwise_affine": True,
}


@dataclass(frozen=True, slots=True)
class NumberArgument:
    """A number in a call, or a string or array for a class of the user, and its role there."""

    role: str
    value: Plain


def numbers(**values: Plain) -> tuple[NumberArgument, ...]:
    """Numbers by their roles.

    >>> numbers(stride=2)
    (NumberArgument(role='stride', value=2),)
    """
    return tuple(NumberArgument(role, value) for role, value in values.items())


def python_literal(value: Plain) -> str:
    r"""A value as Python. In a string, all but letters, digits and a few others are escaped: no text can end it.

    >>> python_literal((3, True)), python_literal("bilinear"), python_literal('"), (')
    ('(3, True)', '"bilinear"', '"\\x22\\x29\\x2c \\x28"')
    """
    if isinstance(value, tuple):
        return f"({', '.join(map(python_literal, value))}{',' * (len(value) == 1)})"
    if isinstance(value, str):
        return '"' + "".join(c if c in _UNQUOTED else _escaped(ord(c)) for c in value) + '"'
    return repr(value)


def _escaped(code: int) -> str:
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


@dataclass(frozen=True, slots=True)
class ModuleCall:
    """A call to the constructor of a module of `torch.nn`, of our `runtime`, or of a user package.

    >>> ModuleCall("Conv2d", numbers(channels=3, width=8, kernel=1), numbers(stride=1, bias=False)).source()
    'nn.Conv2d(3, 8, 1, bias=False)'
    """

    target: str
    args: tuple[NumberArgument, ...] = ()
    kwargs: tuple[NumberArgument, ...] = ()  # roles are keywords; defaults are included, but not printed
    package: str = "nn"
    applied: tuple[int, ...] = ()  # numbers that the module takes with its inputs, in every use

    @property
    def module(self) -> object:
        """What the module depends on: two calls can be one module if it is equal."""
        return replace(self, applied=())

    @property
    def constructor(self) -> str:
        """The constructor as Python: `nn` is `torch.nn`, and names of `runtime` have been imported."""
        return self.target if self.package == "runtime" else f"{self.package}.{self.target}"

    @property
    def numbers(self) -> tuple[NumberArgument, ...]:
        """All its numbers."""
        return (*self.args, *self.kwargs)

    @property
    def skeleton(self) -> object:
        """The call without its numbers: equal for two calls that differ in numbers only."""
        return self.constructor, len(self.args), tuple(number.role for number in self.kwargs), self.applied

    def source(self, texts: Sequence[str | None] = ()) -> str:
        """The call as Python, with texts in place of some of its numbers.

        >>> ModuleCall("Linear", numbers(channels=8, width=10)).source(["width", None])
        'nn.Linear(width, 10)'
        """
        shown = list(texts) or [None] * len(self.numbers)
        split = len(self.args)
        arguments = [
            text or python_literal(number.value) for text, number in zip(shown[:split], self.args, strict=True)
        ]
        for text, number in zip(shown[split:], self.kwargs, strict=True):
            if text or not self._is_default(number):
                arguments.append(f"{number.role}={text or python_literal(number.value)}")
        return f"{self.constructor}({', '.join(arguments)})"

    def _is_default(self, number: NumberArgument) -> bool:
        return self.package in ("nn", "runtime") and number.value == DEFAULTS.get(number.role)


@dataclass(frozen=True, slots=True)
class Expression:
    """A function of tensors without weights, as a Python template.

    `{0}` and `{1}` are inputs, and every word in braces is the role of a number. The template may use `torch`, `F`
    (`torch.nn.functional`), and one function of our `runtime`.

    >>> Expression("F.max_pool2d({0}, {kernel}, {stride})", (3, 2)).source(["x"])
    'F.max_pool2d(x, 3, 2)'
    """

    template: str
    values: tuple[Plain, ...] = ()  # of the numbers, in order
    helper: str | None = None  # the function of `runtime`

    @property
    def numbers(self) -> tuple[NumberArgument, ...]:
        """All its numbers."""
        roles = [field for _, field, _, _ in Formatter().parse(self.template) if field and not field.isdecimal()]
        return tuple(NumberArgument(role, value) for role, value in zip(roles, self.values, strict=True))

    @property
    def skeleton(self) -> object:
        """The expression without its numbers: equal for two that differ in numbers only."""
        return self.template, self.helper

    def source(self, inputs: Sequence[str], texts: Sequence[str | None] = ()) -> str:
        """The expression for inputs of these names, with texts in place of some of its numbers.

        >>> Expression("{0}[:, {start}:{stop}]", (0, 4)).source(["x"], [None, "width // 2"])
        'x[:, 0:(width // 2)]'
        """
        parts = list(Formatter().parse(self.template))
        following = [before for before, *_ in parts[1:]] + [""]
        next_values = iter(zip(texts or [None] * len(self.values), self.values, strict=True))
        source = ""
        for (before, field, _, _), after in zip(parts, following, strict=True):
            source += before
            if field is None:
                continue
            if field.isdecimal():
                source += inputs[int(field)]
                continue
            text, value = next(next_values)
            enclosed = before.endswith(("(", ", ")) and after.startswith((")", ","))
            source += python_literal(value) if text is None else text if enclosed or " " not in text else f"({text})"
        return source

    def encloses(self, position: int) -> bool:
        """Return whether an input is between brackets or commas, so that any expression can replace it."""
        before, _, after = self.template.partition(f"{{{position}}}")
        return before.rstrip().endswith(("(", "[", ",")) and after.startswith((")", "]", ","))
