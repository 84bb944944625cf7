"""Error messages for definitions that do not parse.

Each recogniser looks at the tokens around the error and returns a diagnostic or None. The first
diagnostic is reported; the last recogniser always returns one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from lark import Token

from bayesnas_graph.diagnostics import Diagnostic, Label, nearest
from bayesnas_graph.diagnostics.source import Source, Span
from bayesnas_graph.language.syntax.error_context import ErrorContext
from bayesnas_graph.language.syntax.grammar import OPERAND_ENDS, reserved_words, token_texts
from bayesnas_graph.language.syntax.near_misses import (
    candidate_name,
    count_in_words,
    function_head,
    repetition,
    requirement,
)

_OPERAND_STARTS = {"NAME", "CHOOSE", "OPTIONAL", "IF", "LBRACE"}
_STATEMENT_STARTS = {"IN", "NODE", "OUT", "LET", "SHARE", "FOR", "IF", "ASSERT", "REQUIRE"}
_EXPRESSION_STARTS = {"NAME", "NUMBER", "LPAR", "LBRACE", "IF", "CHOOSE"}
_EXPRESSION_KEYWORDS = {"IF", "CHOOSE", "OPTIONAL", "NOT", "BOOLEAN"}
_OPERATORS = {"SIGN", "TIMES", "COMPARE", "CIRCUMFLEX"}
_DEFINITION_KEYWORDS = ("import", "let", "set", "op", "motif", "cell", "network")
_ADD_COLON = "put a colon before the operation: `a -> b : relu`"


def diagnose(source: Source, tokens: Sequence[Token], position: int, expected: set[str]) -> Diagnostic:
    """The diagnostic for a definition whose token at `position` is unexpected."""
    context = ErrorContext(source, tokens, position, frozenset(expected))
    return next(diagnostic for recognise in _RECOGNISERS if (diagnostic := recognise(context)) is not None)


def _not_a_definition(context: ErrorContext) -> Diagnostic | None:
    if context.position != 0 or context.token is None:
        return None
    known = nearest(str(context.token), _DEFINITION_KEYWORDS) if context.token.type == "NAME" else None
    help = f"did you mean `{known}`?" if known else "definitions start with " + ", ".join(_DEFINITION_KEYWORDS)
    return context.unexpected(0, "not the start of a definition", help)


def _missing_budget(context: ErrorContext) -> Diagnostic | None:
    """`require`, `require params` and `require params <` with nothing after."""
    start = next((i for i in range(context.position - 1, -1, -1) if context.tokens[i].type == "REQUIRE"), None)
    if start is None or context.position - start > 3 or (context.token is not None and context.token.type == "COMPARE"):
        return None
    if context.position - start == 3 and context.tokens[start + 2].type != "COMPARE":
        return None
    span = Span(context.source, context.span(start).start, context.span(context.position - 1).end)
    help = "write `require params < 3.5M`, `require edges <= 9` or `require inputs(h) == 2`"
    return Diagnostic("NAS001", "`require` without a budget", Label(span, "incomplete"), help=help)


def _network_without_types(context: ErrorContext) -> Diagnostic | None:
    if context.tokens[0].type != "NETWORK" or context.token is None or context.token.type != "LBRACE":
        return None
    if any(token.type == "LBRACE" for token in context.tokens[: context.position]):
        return None
    return Diagnostic(
        "NAS001",
        "network without input and output types",
        Label(context.span(context.position), "expected the types before this"),
        help=f"write `network {context.tokens[1]} : image(3, 32, 32) -> classes(10) {{ ... }}`",
    )


def _nested_definition(context: ErrorContext) -> Diagnostic | None:
    """`motif` inside a body, or a reserved word at the start of a statement."""
    token = context.token
    if token is None or context.position == 0 or str(token) not in _DEFINITION_KEYWORDS:
        return None
    if "NODE" not in context.expected:
        return None
    following = context.tokens[context.position + 1 : context.position + 2]
    if following and following[0].type not in ("NAME", "STRING"):
        return _reserved(context, "use another name for the node")
    help = "move it out: definitions cannot be nested"
    return context.unexpected(context.position, "inside another definition", help)


def _stray_comma(context: ErrorContext) -> Diagnostic | None:
    position, help = context.position, "remove the comma"
    if context.token is not None and context.token.type == "COMMA":
        label = "nothing before this comma"
        if "RBRACE" in context.expected and context.previous is not None and context.previous.type in OPERAND_ENDS:
            label, help = "not needed", "statements are not separated by commas"
    elif context.previous is not None and context.previous.type == "COMMA":
        position, label = position - 1, "nothing after this comma"
    else:
        return None
    return Diagnostic("NAS005", "stray comma", Label(context.span(position), label), help=help)


def _choose_count(context: ErrorContext) -> Diagnostic | None:
    """`choose n s`: a number that is computed needs `of`. `choose exactly s`: the number is missing."""
    nearby = context.position if "OF" in context.expected else 4  # tokens that may belong to it
    before = range(context.position - 1, max(-1, context.position - 1 - nearby), -1)
    start = next((i for i in before if context.tokens[i].type == "CHOOSE"), None)
    if start is None:
        return None
    exact = start + 1 < len(context.tokens) and context.tokens[start + 1].type == "EXACTLY"
    words, i = "choose exactly" if exact else "choose", start + 1 + exact
    if i + 1 < len(context.tokens) and context.tokens[i].type == "NAME" and context.same_line(i + 1):
        count, following = context.tokens[i : i + 2]
        if following.type in ("NAME", "LBRACE"):
            candidates = following if following.type == "NAME" else "{ ... }"
            help = f"for a number with a name, write `{words} {count} of {candidates}`; chain operations with `>`"
            return context.unexpected(i + 1, "expected `of` or `>` before this", help)
    if exact and (context.position == i or "OF" in context.expected):
        span = Span(context.source, context.span(start).start, context.span(start + 1).end)
        help = "write `choose exactly 1 { ... }` or `choose exactly n of candidates`"
        return Diagnostic("NAS001", "`exactly` without a number", Label(span, "exactly how many?"), help=help)
    return None


def _nothing_to_choose(context: ErrorContext) -> Diagnostic | None:
    """`choose 1` at the end of a line: what follows is the next statement, or the end of the body."""
    end = context.position
    if end > 2 and context.tokens[end - 1].type == "NAME" and not context.same_line(end - 1):
        end -= 1  # the next statement starts with a name, which was taken for a set
    start = end - 2 if end > 1 and context.tokens[end - 1].type == "NUMBER" else end - 1
    if start < 0 or context.tokens[start].type != "CHOOSE":
        return None
    if end < len(context.tokens) and context.same_line(end) and context.tokens[end].type not in ("COMMA", "RBRACE"):
        return None
    span = Span(context.source, context.span(start).start, context.span(end - 1).end)
    help = f"write the candidates in braces: `{span.text} {{ conv(16), max_pool(3) }}`"
    return Diagnostic("NAS001", "`choose` without candidates", Label(span, "nothing to choose from"), help=help)


def _arrow_for_chain(context: ErrorContext) -> Diagnostic | None:
    """`x -> y : conv(16) -> relu`."""
    if context.token is None or context.token.type != "ARROW" or not context.same_line(context.position):
        return None
    if context.previous is None or context.previous.type not in OPERAND_ENDS:
        return None
    match _before(context, context.position):
        case "colon":
            return context.unexpected(context.position, "expected `>`", "chain operations with `>`: `conv(16) > relu`")
        case "arrow":
            help = "one statement is one edge; chain operations after a colon: `a -> b : conv(16) > relu`"
            return context.unexpected(context.position, "not in this statement", help)
        case _:
            return None


def _bare_conditional(context: ErrorContext) -> Diagnostic | None:
    """`relu > if c then bn else tanh`."""
    if context.token is None or context.token.type != "IF" or not {"NAME", "LPAR"} <= context.expected:
        return None
    return context.unexpected(context.position, "needs parentheses", "write `(if ... then ... else ...)`")


def _equals_for_colon(context: ErrorContext) -> Diagnostic | None:
    if context.token is None or context.token.type != "EQUAL" or "COLON" not in context.expected:
        return None
    label = Label(context.span(context.position), "expected `:`")
    return Diagnostic("NAS004", "`=` instead of `:`", label, help=_ADD_COLON)


def _wrong_equals(context: ErrorContext) -> Diagnostic | None:
    if context.token is None:
        return None
    if context.token.type == "EQUAL" and "COMPARE" in context.expected:
        return context.unexpected(context.position, "", "use `==` to compare")
    if context.token == "==" and "EQUAL" in context.expected:
        return context.unexpected(context.position, "", "use `=` to assign a value")
    return None


def _missing_separator(context: ErrorContext) -> Diagnostic | None:
    """`a -> b relu` or `a -> b : bn relu`: two operands on one line with nothing between them."""
    for i in range(min(context.position, len(context.tokens) - 1), 0, -1):
        left, right = context.tokens[i - 1], context.tokens[i]
        if left.type in ("COLON", "LBRACE") or right.type == "COLON":
            return None
        if left.type not in OPERAND_ENDS or right.type not in _OPERAND_STARTS or not context.same_line(i):
            continue
        end = context.span(i - 1).end
        gap = Label(Span(context.source, end, end + 1), "expected `:`")
        match _before(context, i):
            case "arrow":
                return Diagnostic("NAS003", f"missing `:` before `{right}`", gap, help=_ADD_COLON)
            case "colon" if right.type == "NAME":
                return context.unexpected(i, "expected `>` before this", "chain operations with `>`")
            case _:
                return None
    return None


def _before(context: ErrorContext, position: int) -> Literal["arrow", "colon", "neither"]:
    """Which comes last before `position` on the same line: the start of an edge, or the colon after it."""
    for i in range(position - 1, -1, -1):
        if context.tokens[i] == "->" or context.tokens[i].type in ("NODE", "NETWORK"):
            return "arrow"
        if context.tokens[i].type == "COLON":
            return "colon"
        if i and not context.same_line(i):
            break
    return "neither"


def _reserved_word(context: ErrorContext) -> Diagnostic | None:
    token, previous = context.token, context.previous
    if token is None or previous is None or "NAME" not in context.expected or token not in reserved_words():
        return None
    if token.type in _EXPRESSION_KEYWORDS or not context.same_line(context.position):
        return None
    if previous.type in ("LPAR", "COMMA") and "NUMBER" in context.expected:
        return _reserved(context, "no operation has this parameter; `bayesnas-graph ops` lists them all")
    return _reserved(context, f"use another name, such as `{token}_`")


def _reserved(context: ErrorContext, help: str) -> Diagnostic:
    label = Label(context.span(context.position), "reserved word")
    return Diagnostic("NAS010", f"`{context.token}` cannot be used as a name", label, help=help)


def _foreign_syntax(context: ErrorContext) -> Diagnostic | None:
    """Syntax of other languages."""
    token, previous, i = context.token, context.previous, context.position
    if token is None or previous is None:
        return None
    following = context.tokens[i + 1] if i + 1 < len(context.tokens) else None
    if token == "=" and following == ">":
        return context.unexpected(i, "invalid arrow", "write `->`")
    if token == "=" and "ARROW" in context.expected and previous.type == "NAME":
        return context.unexpected(i - 1, "not declared as a node", f"write `node {previous} = ...`")
    if previous == "return":
        return context.unexpected(i - 1, "not a statement", "use `out` to set the outputs")
    if previous == "while":
        return context.unexpected(i - 1, "not a statement", "write a loop as `for i in 0..4 { ... }`")
    if token.type == "DOT" and following is not None and following.type == "NUMBER":
        return context.unexpected(i, "invalid number", f"write `0.{following}`")
    if previous.type == "NUMBER" and token.type == "NAME" and token[0] in "eE" and context.touches_previous:
        return context.unexpected(i, "invalid number", "write the exponent as in `1e6` or `2.5e-3`")
    return None


def _misspelt_statement(context: ErrorContext) -> Diagnostic | None:
    previous = context.previous
    if previous is None or previous.type != "NAME" or context.token is None:
        return None
    if context.token.type not in ("NAME", "LBRACE"):
        return None
    known = nearest(str(previous), [name.lower() for name in _STATEMENT_STARTS])
    if known is None:
        return None
    return context.unexpected(context.position - 1, "not the start of a statement", f"did you mean `{known}`?")


def _missing_then(context: ErrorContext) -> Diagnostic | None:
    if context.token is None or not {"LBRACE", "COLON"}.isdisjoint(context.expected):
        return None
    missing = next((keyword for keyword in ("then", "else") if keyword.upper() in context.expected), None)
    if missing is None:
        return None
    help = "write a conditional value as `if ... then ... else ...`"
    return context.unexpected(context.position, f"expected `{missing}` before this", help)


def _unexpected(context: ErrorContext) -> Diagnostic:
    expected = f"expected {_describe(context.expected)}"
    if context.token is not None:
        return context.unexpected(context.position, expected)
    end = context.span(len(context.tokens) - 1).end
    label = Label(Span(context.source, end, end + 1), expected)
    return Diagnostic("NAS001", f"`{context.tokens[0]}` is incomplete", label)


def _describe(expected: frozenset[str]) -> str:
    """The expected token types in words."""
    texts = token_texts()
    rest = set(expected)
    phrases = []
    if rest >= _EXPRESSION_STARTS:
        phrases.append("an expression")
        rest -= _EXPRESSION_STARTS | {"OPTIONAL", "NOT", "SIGN", "LSQB", "BOOLEAN", "STRING"}
    if rest >= _STATEMENT_STARTS:
        phrases.append("a statement")
        rest -= _STATEMENT_STARTS | {"NAME"}
    if rest & _OPERATORS:
        phrases.append("an operator")
        rest -= _OPERATORS | {"VBAR", "AND", "OR", "DOTDOT", "DOT", "LPAR", "LSQB"}
    phrases += ["a name"] * ("NAME" in rest) + ["a number"] * ("NUMBER" in rest) + ["a string"] * ("STRING" in rest)
    phrases += sorted(f"`{texts[name]}`" for name in rest if name in texts)
    if not phrases:
        return "the end of the definition"
    return phrases[0] if len(phrases) == 1 else ", ".join(phrases[:-1]) + f" or {phrases[-1]}"


_RECOGNISERS: tuple[Callable[[ErrorContext], Diagnostic | None], ...] = (
    function_head,
    _not_a_definition,
    _network_without_types,
    requirement,
    _missing_budget,
    _nested_definition,
    count_in_words,
    candidate_name,
    repetition,
    _foreign_syntax,
    _nothing_to_choose,
    _reserved_word,
    _stray_comma,
    _choose_count,
    _arrow_for_chain,
    _bare_conditional,
    _equals_for_colon,
    _wrong_equals,
    _missing_then,
    _missing_separator,
    _misspelt_statement,
    _unexpected,
)
