"""The interface of primitive operations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, fields
from fractions import Fraction
from functools import reduce
from math import prod
from types import MappingProxyType
from typing import Any, ClassVar, Literal
from weakref import WeakKeyDictionary

from bayesnas_graph.ir.call import Expression, ModuleCall, Plain, TensorCut
from bayesnas_graph.ir.coupling import Coupling, Mask, union

Shape = tuple[int, ...]  # of one sample: (channels, height, width), (channels, length), or (features,)


class TokenShape(tuple[int, ...]):
    """The shape of tokens, whole numbers such as the words of a text: `(length,)`. No other shape is equal to it.

    >>> TokenShape((8,)) == (8,), TokenShape((8,)) == TokenShape((8,))
    (False, True)
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TokenShape) and tuple(self) == tuple(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((TokenShape, *self))


ArgumentKind = Literal["integer", "rational", "boolean", "word"]  # a word: one of some strings
Value = Plain | Fraction | None


class ShapeError(Exception):
    """An operation cannot take its inputs. The text states why."""


@dataclass(frozen=True, slots=True)
class Argument:
    """The values that an operation accepts for one of its arguments."""

    kind: ArgumentKind
    minimum: int | Fraction | None = None
    maximum: int | Fraction | None = None
    absent: str | None = None  # what omitting it means, if it has no fixed default
    is_recent: bool = False  # not in documents that have its default, so that fingerprints stay as they were
    words: tuple[str, ...] = ()  # strings that it accepts too, or all that it accepts
    is_pair: bool = False  # also an array of two: along the height and along the width


@dataclass(frozen=True)
class Op:
    """A primitive operation with its arguments.

    A subclass is a frozen dataclass: its fields are the arguments of the language, in order, with their defaults, and
    each carries an `Argument` in its metadata (see `ops/base.py`). The traits below are all that other code may
    ask about an operation: nothing outside `ir/ops` tests for a class.
    """

    name: ClassVar[str]
    inputs: ClassVar[int | None] = 1  # None: any number, at least one

    # Traits: its place in the graph.
    is_input: ClassVar[bool] = False  # an input of the network
    is_choice: ClassVar[bool] = False  # the sum of the candidates of a choice
    is_zero_switch: ClassVar[bool] = False  # turns all candidates of a choice off
    is_optional: ClassVar[bool] = False  # a value that is optional in the text
    adds_choices: ClassVar[bool] = False  # a sum of choices that is computed with them
    is_gated: ClassVar[bool] = False  # every edge into it has a gate
    reads_tokens: ClassVar[bool] = False  # its input is tokens, not numbers
    is_join: ClassVar[bool] = False  # joins any number of values into one
    is_python: ClassVar[bool] = False  # a user-defined class
    always_shown: ClassVar[tuple[str, ...]] = ()  # arguments that pictures show even if they have their defaults
    is_mask: ClassVar[bool] = False  # its output is its input with some channels set to zero
    chooses_width: ClassVar[bool] = False  # a choice among the first so many channels of one value

    # Traits: what it computes.
    pure: ClassVar[bool] = True  # equal inputs give equal outputs: no weights, no randomness
    passes_through: ClassVar[bool] = False  # its output is its input
    only_scales: ClassVar[bool] = False  # its output is its input times a number
    adds: ClassVar[bool] = False  # its output is the sum of its inputs
    combines_linearly: ClassVar[bool] = False  # its output is a sum of its inputs, each times a number
    is_pointwise: ClassVar[bool] = False  # combines values of one shape position by position, in any order
    changes_batch: ClassVar[bool] = False  # its output has another number of samples than its input
    concatenates: ClassVar[bool] = False  # its output has the channels of all its inputs
    selects: ClassVar[bool] = False  # its weights determine which channels of its input it selects
    normalises: ClassVar[bool] = False  # a norm, perhaps with a weight and a bias per channel
    uses_batch_statistics: ClassVar[bool] = False  # in training it needs several values per channel
    tolerates_missing_inputs: ClassVar[bool] = False  # works when some of its inputs are removed
    has_second_derivative: ClassVar[bool] = False  # so that its curvature depends on the gradient

    # Traits: what its backward pass needs from its forward pass; see also `saved_bytes`.
    saves_output: ClassVar[bool] = False

    # Traits: its channels and weights.
    has_centre: ClassVar[bool] = False  # its weights are the centre of a kernel that larger ones use too
    by_channel: ClassVar[bool] = False  # works on each channel alone: on more channels it is the same operation
    starts_siblings: ClassVar[bool] = False  # several of one value are worth computing as one wide operation
    weight_axes: ClassVar[str] = ""  # of `weight`: n filters, c input channels, m rows, k columns; "" if not a layer

    @property
    def is_tokens(self) -> bool:
        """Whether it is an input of the network that is tokens."""
        return False

    @property
    def saves_inputs(self) -> bool:
        """Whether its backward pass needs its inputs, as that of weights usually does."""
        return not self.pure

    @property
    def mergeable(self) -> bool:
        """Whether two of them with equal inputs may be computed once."""
        return self.pure

    @property
    def reads_all_channels(self) -> bool:
        """Whether every output channel reads every input channel, so that a wider one can read the same input."""
        return False

    @property
    def candidate_limit(self) -> int | None:
        """The number of candidates a search may keep, if it is a choice with a limit."""
        return None

    @property
    def candidate_least(self) -> int:
        """The number of candidates a search must keep while the choice is used; 0 if it may keep none."""
        return 0

    @property
    def parts(self) -> int:
        """The number of equal parts its input is divided into, if its output is some of them; else 0."""
        return 0

    @property
    def part(self) -> tuple[int, int]:
        """The first of these parts that is in its output, and the first after it that is not."""
        return 0, 0

    @property
    def repeats(self) -> int:
        """How often its output has the channels of its input, if that is all it does; else 0."""
        return 0

    @property
    def label(self) -> str:
        """Its name in the names of nodes."""
        return self.name

    @property
    def kind(self) -> object:
        """The operation without its numbers: equal for two that differ in numbers only."""
        return type(self), tuple(name for name, value in self.settings().items() if value is not None)

    def shape(self, *inputs: Shape) -> Shape:
        """The shape of the output. Raises ShapeError if it cannot take the inputs."""
        raise NotImplementedError(f"`{self.name}` has no shape rule")

    def torch(self, *inputs: Shape) -> ModuleCall | Expression:
        """How torch computes it: a module if it has weights or depends on the mode, else an expression."""
        raise NotImplementedError(f"`{self.name}` has no torch call")

    def resolved(self, *inputs: Shape) -> tuple[Op, ...]:
        """The operations it stands for on inputs of these shapes, one after another: itself, unless they decide."""
        return (self,)

    def doubtful(self, *inputs: Shape) -> str | None:
        """A warning about it on inputs of these shapes; None if there is nothing to say."""
        return None

    def repeats_on_cuda(self, *inputs: Shape) -> bool:
        """Return whether torch can compute its gradient on CUDA so that it is the same every time."""
        return True

    def flops(self, *inputs: Shape) -> int:
        """Multiply-adds per sample, one each. Only convolutions and linear layers count, as in the literature."""
        return 0

    def counts_all_flops(self, *inputs: Shape) -> bool:
        """Return whether `flops` counts all of them; if not, it is a lower bound."""
        return True

    def operations(self, *inputs: Shape) -> int:
        """Additions and multiplications per sample of the same operations, counted as in papers on compression."""
        return 0

    def stored_values(self, *inputs: Shape) -> int:
        """The number of values it stores per sample: those of its output, unless it is a view of its input."""
        return prod(self.shape(*inputs))

    def is_view(self, *inputs: Shape) -> bool:
        """Whether its output is part of the memory of its first input."""
        return not self.stored_values(*inputs)

    def saved_bytes(self, size: int, *inputs: Shape) -> int:
        """What its backward pass needs per sample besides inputs and output, if a value has `size` bytes."""
        return 0

    def parameters(self, *inputs: Shape) -> int:
        """The number of its parameters for inputs of these shapes."""
        if self.pure:
            return 0
        raise NotImplementedError(f"`{self.name}` has no rule for its number of parameters")

    # The curvature rules take an `ops.curvature.Local` and return tensors, types that this layer does not know.

    def curvature(self, local: Any) -> tuple[Any, ...]:
        """The diagonal Hessian of the loss with respect to every input, given that with respect to the output."""
        raise NotImplementedError(f"`{self.name}` has no curvature rule")

    def weight_curvature(self, local: Any) -> dict[str, Any]:
        """The diagonal Hessian of the mean loss with respect to every parameter, by its name in the module."""
        if self.pure:
            return {}
        raise NotImplementedError(f"`{self.name}` has no curvature rule for its parameters")

    # Other forms of it, for passes.

    def widened(self, width: int, groups: int) -> Op:
        """One operation with `width` output channels that replaces several equal ones.

        `groups` is their number if each reads its own part of the channels, and 1 if all read the same.
        """
        return self

    def one_of(self, count: int, width: int) -> Op | None:
        """One of the `count` equal operations that it computes side by side; None if it cannot be taken apart.

        `width` is the number of its output channels. `widened` puts any number of them together again.
        """
        return self if self.by_channel else None

    def undilated(self, *inputs: Shape) -> tuple[Op, Op, Op | None] | None:
        """Equivalent operations without dilation: one before, one in its place, and possibly one after."""
        return None

    def absorbing(self, before: Op) -> Op | None:
        """One operation for `before` and then this that stores less for the backward pass; None if there is none."""
        return None

    def light_form(self) -> Op:
        """The same operation, storing as little as possible for the backward pass."""
        return self

    def among(self, others: Iterable[Op]) -> Op:
        """The same operation, if it shares its weights with these, itself included, and with no others."""
        return self

    def tensor_cuts(self, after: Op) -> tuple[TensorCut, ...]:
        """What remains of its tensors if it becomes another operation, besides what follows from channels."""
        return ()

    # Channels.

    def zeroed(self, width: int) -> range:
        """The channels, out of `width`, that it sets to zero."""
        return range(0)

    def coupling(self, *inputs: Shape) -> Coupling:
        """Which channels of its inputs, its output and its parameters can only be removed together."""
        raise NotImplementedError(f"`{self.name}` has no coupling rule")

    def narrowed(self, inputs: tuple[Mask, ...], output: Mask) -> Op:
        """The operation once channels are removed: another one if its arguments are widths or groups."""
        return self

    # The next three consider zeros in weights, in evaluation mode. Tensors are keyed by their names in the module.

    def nonzero_outputs(self, nonzero: tuple[Mask, ...], tensors: Mapping[str, Any], *inputs: Shape) -> Mask:
        """The output channels that can be nonzero, given the channels of every input that can."""
        width = self.shape(*inputs)[0]
        links = self.coupling(*inputs).links
        reached = (link.forwards(mask, width) for link, mask in zip(links, nonzero, strict=True))
        return reduce(union, reached, (False,) * width)

    def needed_inputs(self, output: Mask, tensors: Mapping[str, Any], *inputs: Shape) -> tuple[Mask, ...]:
        """The channels of every input that influence some channels of the output."""
        return tuple(link.backwards(output) for link in self.coupling(*inputs).links)

    def sliced(
        self, tensors: Mapping[str, Any], input_masks: tuple[Mask, ...], output: Mask, *inputs: Shape
    ) -> dict[str, Any]:
        """Its tensors with only these channels of inputs and output, for inputs that had these shapes."""
        remaining = dict(tensors)
        for axis in self.coupling(*inputs).axes:
            mask = output if axis.follows == "output" else input_masks[0]
            entries = [i for i, is_kept in enumerate(mask) if is_kept]
            remaining[axis.name] = remaining[axis.name][(slice(None),) * axis.axis + (entries,)]
        return remaining

    def scale_tensors(self) -> tuple[str, ...]:
        """The tensors of its module that scale its output when they are scaled; empty if there are none."""
        return ()

    # Arguments.

    def simplified(self) -> Op:
        """The same operation, with arguments in their usual form."""
        return self

    def invalid_argument(self) -> tuple[str, str] | None:
        """An argument with a value that is not allowed, and why; None if there is none."""
        return None

    @classmethod
    def arguments(cls) -> Mapping[str, Argument]:
        """The arguments by name, in order."""
        known = _ARGUMENTS.get(cls)
        if known is None:
            found = {field.name: field.metadata["argument"] for field in fields(cls)}
            known = _ARGUMENTS[cls] = MappingProxyType(found)
        return known

    def settings(self) -> dict[str, Value]:
        """The value of every argument."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def default(self, argument: str) -> Value:
        """The default of an argument; None if it is required or has no fixed default."""
        (default,) = (field.default for field in fields(self) if field.name == argument)
        return None if default is MISSING else default

    def changed(self) -> dict[str, str]:
        """The arguments that differ from their defaults, as text."""
        return {name: _text(value) for name, value in self.settings().items() if value != self.default(name)}

    def __str__(self) -> str:
        shown = ", ".join(f"{name} = {value}" for name, value in self.changed().items())
        return f"{self.label}({shown})" if shown else self.label


_ARGUMENTS: WeakKeyDictionary[type[Op], Mapping[str, Argument]] = WeakKeyDictionary()


def _text(value: Value) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_text, value))}]"
    if isinstance(value, str):
        return f'"{value}"'
    return str(value).lower() if isinstance(value, bool) else str(value)


KINDS: Mapping[int, str] = {1: "a vector", 2: "a sequence", 3: "an image"}  # of values, by their number of dimensions


def shape_text(shape: Shape) -> str:
    """A shape as displayed.

    >>> shape_text((16, 32, 32)), shape_text((10,))
    ('16x32x32', '10')
    """
    return "x".join(map(str, shape))


def named_shape(shape: Shape) -> str:
    """A shape with its kind.

    >>> named_shape((16, 32, 32)), named_shape((16, 50)), named_shape((10,))
    ('an image of 16x32x32', 'a sequence of 16x50', 'a vector of 10')
    """
    if isinstance(shape, TokenShape):
        return f"{shape_text(shape)} tokens"
    return f"{KINDS.get(len(shape), 'a value')} of {shape_text(shape)}"
