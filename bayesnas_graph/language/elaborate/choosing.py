"""Evaluate choices of numbers, and everything computed from them: one value for each option."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from bayesnas_graph.diagnostics import Diagnostic, Label
from bayesnas_graph.diagnostics.source import Span
from bayesnas_graph.language.elaborate.number_choices import Chosen, Number, NumberChoice, NumberOwner, Pending
from bayesnas_graph.language.elaborate.scope import NameScope
from bayesnas_graph.language.elaborate.values import (
    ByNumber,
    Operation,
    OptionSet,
    Perhaps,
    Repeated,
    Selection,
    Use,
    Value,
    show,
)
from bayesnas_graph.language.elaborate.values import (
    Sequence as Chain,
)
from bayesnas_graph.language.syntax import ast

if TYPE_CHECKING:
    from bayesnas_graph.language.elaborate.evaluate import Evaluator

T = TypeVar("T", bound=Value)


def choose_number(
    evaluator: Evaluator, expr: ast.Choose, options: tuple[Number, ...], scope: NameScope
) -> Number | Chosen:
    """`choose { 8, 16 }`: exactly one of these numbers. Evaluated again in the same scope, it is the same number."""
    if len(options) == 1:
        return options[0]
    if id(expr) not in scope.chosen:
        owner = scope.owner or evaluator.file_numbers
        scope.chosen[id(expr)] = Chosen(NumberChoice(owner, owner.new(), options, expr.span), options)
    return scope.chosen[id(expr)]


def named(value: Value, name: str) -> Value:
    """Name the numbers that are chosen in a value after what holds them: `w`, or `w[1]` in an array."""
    if isinstance(value, Chosen):
        value.choice.owner.call(value.choice.position, name)
    elif isinstance(value, tuple):
        for i, item in enumerate(value):
            named(item, f"{name}[{i}]")
    return value


def over_options(
    evaluator: Evaluator, values: Sequence[Value], function: Callable[[Sequence[Value]], T], span: Span
) -> T | Chosen:
    """A function of values: for each option, if one of the values is chosen.

    What does not depend on the option is not chosen. Anything but a number must not depend on it.
    """
    choices = list(dict.fromkeys(choice for value in values for choice in _choices_in(value)))
    if not choices:
        return function(values)
    if len(choices) > 1:
        two_choices(evaluator, choices, span)
    (choice,) = choices
    evaluator.meter.step(span, len(choice))
    results = [function([_with_option(value, i) for value in values]) for i in range(len(choice))]
    if all(result == results[0] for result in results):
        return results[0]
    if all(isinstance(result, int | Fraction) and not isinstance(result, bool) for result in results):
        return Chosen(choice, tuple(results))  # type: ignore[arg-type]
    pairs = zip(results, choice.options, strict=True)
    shown = ", ".join(f"{show(result)} for {option}" for result, option in pairs)
    help = "only numbers can be chosen; choose between operations instead"
    evaluator.fail("NAS215", f"this depends on the choice of `{choice.name}`", span, shown[:200], help)


def compared(evaluator: Evaluator, left: Value, right: Value, function: Callable[[Any, Any], bool], span: Span) -> bool:
    """A comparison, which must not depend on what is chosen. The two sides may depend on different numbers."""
    sides = [_all_options(value) for value in (left, right)]
    evaluator.meter.step(span, len(sides[0]) * len(sides[1]))
    same = isinstance(left, Chosen) and isinstance(right, Chosen) and left.choice == right.choice
    pairs = list(zip(*sides, strict=True)) if same else [(one, other) for one in sides[0] for other in sides[1]]
    results = {function(*pair) for pair in pairs}
    if len(results) > 1:
        side, chosen = next((i, value) for i, value in enumerate((left, right)) if isinstance(value, Chosen))
        yes, no = (next(pair[side] for pair in pairs if function(*pair) is wanted) for wanted in (True, False))
        message = f"this depends on the choice of `{chosen.choice.name}`"
        help = "a condition must hold for all options, or for none"
        evaluator.fail("NAS215", message, span, f"true for {show(yes)}, false for {show(no)}", help)
    return results.pop()


def by_number(
    evaluator: Evaluator,
    arguments: Sequence[tuple[str, Value]],
    make: Callable[[Sequence[tuple[str, Value]]], Operation],
    span: Span,
) -> Operation:
    """An operation with these arguments: one for each option of each number among them."""
    choices = [choice for _, value in arguments for choice in _choices_in(value)]
    if not choices:
        return make(arguments)
    evaluator.meter.step(span, len(choices[-1]))
    operations = []
    for option in range(len(choices[-1])):
        some = [(name, _with_option(value, option, choices[-1])) for name, value in arguments]
        operations.append(by_number(evaluator, some, make, span))
    return ByNumber(choices[-1], tuple(operations), span)


def adopt(owner: NumberOwner, definition: ast.Motif, value: Value) -> Value:
    """A value of a parameter in which the numbers of defaults belong to this use of the motif."""

    def inner(value: Any) -> Any:  # of the same kind
        match value:
            case Chosen(choice=choice):
                return replace(value, choice=number(choice))
            case tuple():
                return tuple(map(inner, value))
            case ByNumber():
                operations = tuple(map(inner, value.operations))
                return replace(value, choice=number(value.choice), operations=operations)
            case Repeated():
                return replace(value, operation=inner(value.operation), times=inner(value.times))
            case Use():
                return replace(value, arguments=tuple((name, inner(argument)) for name, argument in value.arguments))
            case Chain():
                return replace(value, steps=tuple(map(inner, value.steps)))
            case Selection():
                return replace(value, candidates=tuple(map(inner, value.candidates)))
            case Perhaps():
                return replace(value, operation=inner(value.operation))
            case OptionSet():
                return replace(value, items=tuple(map(inner, value.items)))
            case _:
                return value

    def number(choice: NumberChoice) -> NumberChoice:
        if isinstance(choice.owner, Pending) and choice.owner.definition is definition:
            return replace(choice, owner=owner, position=owner.adopted(choice.position))
        return choice

    adopted: Value = inner(value)
    return adopted


def two_choices(evaluator: Evaluator, choices: Sequence[NumberChoice], span: Span) -> NoReturn:
    """Report a number that would depend on two choices."""
    names = " and ".join(f"`{choice.name}`" for choice in choices[:2])
    labels = tuple(Label(choice.span, f"`{choice.name}` is chosen here") for choice in choices[:2])
    help = "let one number depend on the other, or choose their result"
    evaluator.report.fail(
        Diagnostic("NAS215", "a number can depend on one choice only", Label(span, f"depends on {names}"), labels, help)
    )


def _choices_in(value: Value) -> Iterator[NumberChoice]:
    if isinstance(value, Chosen):
        yield value.choice
    elif isinstance(value, tuple):
        for item in value:
            yield from _choices_in(item)


def _with_option(value: Value, option: int, choice: NumberChoice | None = None) -> Value:
    """A value with one option of a number, or of the only number in it."""
    if isinstance(value, Chosen):
        return value.values[option] if choice is None or value.choice == choice else value
    if isinstance(value, tuple):
        return tuple(_with_option(item, option, choice) for item in value)
    return value


def _all_options(value: Value) -> tuple[Value, ...]:
    return value.values if isinstance(value, Chosen) else (value,)
