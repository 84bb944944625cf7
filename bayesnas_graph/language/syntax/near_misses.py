"""Syntax that is almost right: choices, requirements, functions and names as people half remember them."""

from __future__ import annotations

from bayesnas_graph.diagnostics import Diagnostic
from bayesnas_graph.language.syntax.error_context import ErrorContext

_NUMBERS = {"one": 1, "two": 2, "three": 3, "four": 4}
_FUNCTION_WORDS = ("def", "fn", "fun", "func", "function", "lambda")
_SUFFIXES = ("K", "M", "G")


def count_in_words(context: ErrorContext) -> Diagnostic | None:
    """`choose one { ... }`, `choose at least 1 { ... }`, `choose 1..2 { ... }`, `exactly 1 { ... }`."""
    tokens, i = context.tokens, context.position
    if context.token is not None and context.token.type == "EXACTLY":
        return context.unexpected(i, "not without `choose`", "write `choose exactly 1 { ... }`")
    start = next((k for k in range(i - 1, max(-1, i - 5), -1) if tokens[k].type == "CHOOSE"), None)
    if start is None or context.token is None:
        return None
    exact = tokens[start + 1].type == "EXACTLY"
    first = start + 1 + exact
    if first >= len(tokens):
        return None
    word = str(tokens[first])
    if word in _NUMBERS and first + 1 == i and context.token.type in ("LBRACE", "NAME"):
        count = f"choose {'exactly ' * exact}{_NUMBERS[word]}"
        return context.unexpected(first, "not a number", f"write the number in digits: `{count} {{ ... }}`")
    if word == "at" and first + 1 < len(tokens) and tokens[first + 1] in ("least", "most"):
        help = "`choose 2 { ... }` keeps at most two, `choose exactly 2 { ... }` two, `choose { ... }` any number"
        return context.unexpected(first, "not part of a choice", help)
    if context.token.type == "DOTDOT" and tokens[first].type == "NUMBER" and first + 1 == i:
        counts = [str(token) for token in tokens[i + 1 : i + 2] if tokens[min(i + 2, len(tokens) - 1)].type == "LBRACE"]
        help = (
            f"`choose {counts[0]} {{ ... }}` keeps at most {counts[0]}" if counts else "list them: `choose { 16, 32 }`"
        )
        return context.unexpected(i, "a choice has no range", help)
    return None


def candidate_name(context: ErrorContext) -> Diagnostic | None:
    """`{ small: conv(16) }`, `{ small -> conv(16) }`, `{ "small" = conv(16) }`."""
    tokens, i = context.tokens, context.position
    if context.token is None or i < 2 or tokens[i - 2].type not in ("LBRACE", "COMMA"):
        return None
    previous = tokens[i - 1]
    if previous.type == "NAME" and context.token.type in ("COLON", "ARROW") and "EQUAL" in context.expected:
        return context.unexpected(i, "expected `=`", f"a candidate gets its name with `=`: `{previous} = ...`")
    if previous.type == "STRING" and context.token.type == "EQUAL":
        help = f"a name has no quotes: `{previous[1:-1]} = ...`"
        return context.unexpected(i - 1, "not a name", help)
    return None


def repetition(context: ErrorContext) -> Diagnostic | None:
    """`block * choose { 1, 2 }`, `block ** 3`."""
    if context.token is None or context.previous is None or context.previous.type != "TIMES":
        return None
    if context.token.type == "CHOOSE":
        return context.unexpected(context.position, "needs parentheses", "write `block * (choose { 1, 2, 3 })`")
    if context.token.type == "TIMES" and context.touches_previous:
        help = "`block * 3` is three blocks in a row; powers of numbers are written with `^`"
        return context.unexpected(context.position, "one `*` too many", help)
    return None


def requirement(context: ErrorContext) -> Diagnostic | None:
    """`require edge(x -> y)`, `require a => b`, `require inputs(h) in {1, 2}`, `require params < 1 M`."""
    tokens, i = context.tokens, context.position
    if context.token is None or i < 2:
        return None
    start = i - 1
    while tokens[start].type != "REQUIRE":
        if start == 0 or not context.same_line(start):
            return None
        start -= 1
    if tokens[i - 1] in _SUFFIXES and tokens[i - 2].type == "NUMBER" and not context.same_line(i):
        return context.unexpected(i - 1, "not part of the number", f"write `{tokens[i - 2]}{tokens[i - 1]}`")
    if not context.same_line(i):
        return None
    if context.token.type == "ARROW" and i > 2 and tokens[i - 3] == "edge":
        return context.unexpected(i, "expected `,`", "the ends of an edge are separated by a comma: `edge(x, y)`")
    if context.token == "=" and i + 1 < len(tokens) and tokens[i + 1] == ">":
        return context.unexpected(i, "invalid arrow", "write `implies`")
    if context.token.type == "IN" or context.previous == "in":
        return context.unexpected(i - (context.previous == "in"), "not a comparison", "use `==`, `<=` or `>=`")
    return None


def function_head(context: ErrorContext) -> Diagnostic | None:
    """`def f(n) = ...`, `let f(n) { ... }`, `let f = (n) -> ...`."""
    tokens, i = context.tokens, context.position
    if i == 0 and context.token in _FUNCTION_WORDS:
        name = tokens[1] if len(tokens) > 1 and tokens[1].type == "NAME" else "f"
        return context.unexpected(0, "not the start of a definition", f"write a function as `let {name}(n) = 2 * n`")
    if context.token is None or tokens[0].type != "LET" or len(tokens) < 2:
        return None
    if context.token.type == "LBRACE" and context.expected == {"EQUAL"}:
        help = f"a function is an expression after `=`: `let {tokens[1]}(n) = 2 * n`"
        return context.unexpected(i, "expected `=`", help)
    if context.token.type == "ARROW" and i > 2 and tokens[2] == "=":
        return context.unexpected(i, "not in an expression", f"write a function as `let {tokens[1]}(n) = 2 * n`")
    return None
