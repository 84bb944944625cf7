"""Convert operations to plain JSON and back, checked against their declarations."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, replace
from fractions import Fraction

from pydantic import JsonValue

from bayesnas_graph.diagnostics import Diagnostic, did_you_mean
from bayesnas_graph.diagnostics.source import Source, Span
from bayesnas_graph.ir import Argument, Op, Plain, Scalar, Value
from bayesnas_graph.ir.ops import COMPILED, PRIMITIVES
from bayesnas_graph.ir.ops.plugins import plugin_op
from bayesnas_graph.ir.ops.python import PythonOp
from bayesnas_graph.language.elaborate.arguments import accept
from bayesnas_graph.language.elaborate.arithmetic import out_of_bounds
from bayesnas_graph.language.elaborate.values import is_string
from bayesnas_graph.language.json.problems import Step, fail, shown
from bayesnas_graph.language.json.schema import OpDocument

_FRACTION = re.compile(r"-?[0-9]{1,19}(/0*[1-9][0-9]{0,18})?")
_Given = int | Fraction | bool | str | tuple[int, ...]
_NOWHERE = Source("", "")  # a document has no spans: the offset is the index of the argument


def op_document(op: Op) -> OpDocument:
    """An operation as plain JSON, with all its arguments except recent ones that have their default."""
    if isinstance(op, PythonOp):
        values: dict[str, JsonValue] = {name: _plain(value) for name, value in op.values}
        return OpDocument(name=op.name, args={"called": op.called, "target": op.target, "values": values})
    recent = {name for name, argument in op.arguments().items() if argument.is_recent}
    values_of = {
        name: value for name, value in op.settings().items() if name not in recent or value != op.default(name)
    }
    return OpDocument(name=op.name, args={name: _plain(value) for name, value in values_of.items()})


def current_op(document: OpDocument, version: int) -> OpDocument:
    """An operation of a document of this version, as it is called now.

    Until version 3, `layer_norm` was over everything in a sample.

    >>> current_op(OpDocument(name="layer_norm", args={"affine": False}), 3)
    OpDocument(name='group_norm', args={'groups': 1, 'affine': False})
    """
    if version < 4 and document.name == "layer_norm":
        return OpDocument(name="group_norm", args={"groups": 1, **document.args})
    return document


def read_op(document: OpDocument, source_name: str, path: Sequence[Step], *, allow_python: bool) -> Op:
    """The operation that a document describes. Python operations are not imported here, nor later unless allowed."""
    path = [*path, "args"]
    if document.name == PythonOp.name:
        return replace(_python(document.args, source_name, path), allowed=allow_python)
    cls = PRIMITIVES.get(document.name) or COMPILED.get(document.name) or plugin_op(document.name)
    if cls is None:
        help = did_you_mean(document.name, [*PRIMITIVES, *COMPILED, PythonOp.name])
        fail(source_name, [*path[:-1], "name"], f"unknown operation `{document.name}`", help)
    declared = cls.arguments()
    given: dict[str, _Given] = {}
    for name, value in document.args.items():
        if name not in declared:
            help = did_you_mean(name, declared)
            fail(source_name, [*path, name], f"`{cls.name}` has no argument `{name}`", help)
        read = _value(declared[name], value, source_name, [*path, name])
        if read is not None:
            given[name] = read
    for field in fields(cls):
        if field.default is MISSING and field.name not in given:
            fail(source_name, [*path, field.name], f"is missing, and `{cls.name}` has no default for it")
    spans = {name: Span(_NOWHERE, i, i) for i, name in enumerate(given)}
    op = accept(cls, given, spans)
    if isinstance(op, Diagnostic):
        assert op.primary is not None, "the diagnostic is about an argument"
        name = list(given)[op.primary.span.start]
        fail(source_name, [*path, name], f"{op.message}, {op.primary.text}", op.help)
    return op


def _plain(value: Value) -> JsonValue:
    if isinstance(value, tuple):
        return list(value)
    return str(value) if isinstance(value, Fraction) else value


def _value(argument: Argument, value: JsonValue, source_name: str, path: Sequence[Step]) -> _Given | None:
    """A value of the language; None if the argument is omitted. Its kind and range are checked later."""
    if value is None:
        if argument.absent is None:
            fail(source_name, path, "cannot be null")
        return None
    if isinstance(value, str) and value in argument.words:
        return value
    if isinstance(value, list) and argument.is_pair:
        return tuple(_integer(argument, item, source_name, [*path, i]) for i, item in enumerate(value))
    if isinstance(value, str) and argument.kind == "rational":
        return _fraction(value, source_name, path)
    if isinstance(value, float) and argument.kind == "rational":
        fail(source_name, path, f"is not exact: {shown(value)}", 'write it as a fraction, such as `"1/10"`')
    return _integer(argument, value, source_name, path)


def _integer(argument: Argument, value: JsonValue, source_name: str, path: Sequence[Step]) -> int:
    if not isinstance(value, int):
        wanted = {
            "integer": "a whole number",
            "boolean": "true or false",
            "rational": "a fraction, as a string",
            "word": " or ".join(map(shown, argument.words)),
        }
        fail(source_name, path, f"should be {wanted[argument.kind]}, got {shown(value)}")
    if out_of_bounds(value):
        fail(source_name, path, "is too large, more than 10^18")
    return value


def _fraction(text: str, source_name: str, path: Sequence[Step]) -> Fraction:
    if not _FRACTION.fullmatch(text):
        fail(source_name, path, f"should be a fraction such as `1/10`, got {shown(text)}")
    value = Fraction(text)
    if out_of_bounds(value):
        fail(source_name, path, "numerator or denominator is more than 10^18")
    return value


def _python(args: Mapping[str, JsonValue], source_name: str, path: Sequence[Step]) -> PythonOp:
    texts = {}
    for name in ("called", "target"):
        value = args.get(name)
        if not isinstance(value, str) or not value:
            reason = "is missing" if name not in args else f"should be a string, got {shown(value)}"
            fail(source_name, [*path, name], reason)
        texts[name] = value
    for name in args:
        if name not in ("called", "target", "values"):
            fail(
                source_name,
                [*path, name],
                f"`python` has no argument `{name}`",
                "put the arguments of the class into `values`",
            )
    values = args.get("values", {})
    if not isinstance(values, dict):
        fail(source_name, [*path, "values"], f"should be an object, got {shown(values)}")
    plain: list[tuple[str, Plain]] = []
    for name, value in values.items():
        here = [*path, "values", name]
        if not name.isidentifier():  # it becomes a keyword in emitted source
            fail(source_name, here, "is not the name of an argument")
        if isinstance(value, list):
            plain.append((name, tuple(_scalar(item, source_name, [*here, i]) for i, item in enumerate(value))))
        else:
            plain.append((name, _scalar(value, source_name, here)))
    return PythonOp(texts["called"], texts["target"], tuple(plain))


def _scalar(value: JsonValue, source_name: str, path: Sequence[Step]) -> Scalar:
    """An argument of a Python operation, or an element of one."""
    if not isinstance(value, int | float | str) or (isinstance(value, float) and not math.isfinite(value)):
        fail(
            source_name, path, f"should be a number, a string, true or false, or an array of these, got {shown(value)}"
        )
    if isinstance(value, str) and not is_string(value):
        fail(source_name, path, "has a quote, a line break or an invalid character")
    if isinstance(value, int) and out_of_bounds(value):
        fail(source_name, path, "is too large, more than 10^18")
    return value
