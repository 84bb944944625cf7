"""What a person probably meant where the parser cannot go on.

Each recogniser looks at the words around the place and answers with a diagnostic or None. The first
answer counts; the last recogniser always answers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from lark import Token

from bayesnas_graph.diagnostics import Diagnostic, Label, nearest
from bayesnas_graph.diagnostics.source import Source, Span
from bayesnas_graph.language.syntax.words import machine, reserved_words

_OPERAND_ENDS = {"NAME", "NUMBER", "BOOLEAN", "RPAR", "RSQB", "RBRACE", "OUT"}
_OPERAND_BEGINS = {"NAME", "CHOOSE", "OPTIONAL", "IF", "LBRACE"}
_STATEMENT_BEGINS = {"IN", "NODE", "OUT", "LET", "FOR", "IF", "ASSERT", "REQUIRE"}
_EXPRESSION_BEGINS = {"NAME", "NUMBER", "LPAR", "LBRACE", "IF", "CHOOSE"}
_EXPRESSION_WORDS = {"IF", "CHOOSE", "OPTIONAL", "NOT", "BOOLEAN"}
_DEFINITION_WORDS = ("import", "let", "set", "op", "motif", "cell", "network")


@dataclass(frozen=True)
class Scene:
    """A definition's words, the position of the first that does not fit, and what would have fitted."""

    source: Source
    words: Sequence[Token]
    position: int
    expected: frozenset[str]

    def span(self, position: int) -> Span:
        word = self.words[position]
        return Span(self.source, word.start_pos or 0, word.end_pos or 0)

    @cached_property
    def word(self) -> Token | None:
        """The word that does not fit; None at the end of the definition."""
        return self.words[self.position] if self.position < len(self.words) else None

    @cached_property
    def before(self) -> Token | None:
        return self.words[self.position - 1] if self.position else None

    @cached_property
    def expected_texts(self) -> frozenset[str]:
        """The expected words that are always written in the same way."""
        texts = {t.name: str(t.pattern.value) for t in machine().lark.terminals if t.pattern.type == "str"}
        return frozenset(texts[name] for name in self.expected if name in texts)

    @property
    def touches(self) -> bool:
        """Whether nothing stands between the word that does not fit and the one before it."""
        return self.span(self.position - 1).end == self.span(self.position).start

    def same_line(self, position: int) -> bool:
        """Whether the word at `position` stands on the line on which the word before it ends."""
        gap = self.source.text[self.span(position - 1).end : self.span(position).start]
        return "\n" not in gap


def diagnose(source: Source, words: Sequence[Token], position: int, expected: set[str]) -> Diagnostic:
    """The diagnostic for a definition that cannot be read beyond `position`."""
    scene = Scene(source, words, position, frozenset(expected))
    return next(found for recognise in _RECOGNISERS if (found := recognise(scene)) is not None)


def _not_a_definition(scene: Scene) -> Diagnostic | None:
    if scene.position != 0 or scene.word is None:
        return None
    known = nearest(str(scene.word), _DEFINITION_WORDS) if scene.word.type == "NAME" else None
    help = f"did you mean `{known}`?" if known else "a file is a list of " + ", ".join(_DEFINITION_WORDS)
    label = Label(scene.span(0), "no definition begins like this")
    return Diagnostic("NAS001", f"unexpected `{scene.word}`", label, help=help)


def _missing_budget(scene: Scene) -> Diagnostic | None:
    """`require`, `require params` and `require params <` with nothing after."""
    start = next((i for i in range(scene.position - 1, -1, -1) if scene.words[i].type == "REQUIRE"), None)
    if start is None or scene.position - start > 3 or (scene.word is not None and scene.word.type == "COMPARE"):
        return None
    if scene.position - start == 3 and scene.words[start + 2].type != "COMPARE":
        return None
    span = Span(scene.source, scene.span(start).start, scene.span(scene.position - 1).end)
    help = "write `require params < 3.5M` or `require flops < 600M`"
    return Diagnostic("NAS001", "`require` without a budget", Label(span, "no budget after this"), help=help)


def _network_without_types(scene: Scene) -> Diagnostic | None:
    if scene.words[0].type != "NETWORK" or scene.word is None or scene.word.type != "LBRACE":
        return None
    if any(word.type == "LBRACE" for word in scene.words[: scene.position]):
        return None
    label = Label(scene.span(scene.position), "before this, the network says what it takes and gives")
    return Diagnostic(
        "NAS001",
        "network without input and output",
        label,
        help=f"write `network {scene.words[1]} : image(3, 32, 32) -> classes(10) {{ ... }}`",
    )


def _definition_inside(scene: Scene) -> Diagnostic | None:
    """`motif` within a body, or a reserved word where a statement should begin."""
    word = scene.word
    if word is None or scene.position == 0 or str(word) not in _DEFINITION_WORDS or "NODE" not in scene.expected:
        return None
    after = scene.words[scene.position + 1 : scene.position + 2]
    if after and after[0].type not in ("NAME", "STRING"):
        label = Label(scene.span(scene.position), "a word of the language")
        return Diagnostic("NAS010", f"`{word}` cannot be a name", label, help="choose another for the node")
    label = Label(scene.span(scene.position), "inside another definition")
    return Diagnostic(
        "NAS001", f"unexpected `{word}`", label, help="definitions stand at the top of a file: move it out"
    )


def _stray_comma(scene: Scene) -> Diagnostic | None:
    if scene.word is not None and scene.word.type == "COMMA":
        position = scene.position
        if "RBRACE" in scene.expected and scene.before is not None and scene.before.type in _OPERAND_ENDS:
            text, help = "nothing to separate here", "statements are not separated by commas"
        else:
            text, help = "nothing before it to separate", "remove the comma"
    elif scene.before is not None and scene.before.type == "COMMA":
        position = scene.position - 1
        text, help = "nothing follows that it could separate", "remove the comma"
    else:
        return None
    return Diagnostic("NAS005", "stray comma", Label(scene.span(position), text), help=help)


def _choose_count(scene: Scene) -> Diagnostic | None:
    """`choose k { ... }`: how many may survive is part of the space, not a parameter."""
    i = scene.position
    if scene.word is None or scene.word.type not in ("LBRACE", "NAME") or i < 2 or scene.words[i - 2].type != "CHOOSE":
        return None
    label = Label(scene.span(i - 1), "not a number")
    return Diagnostic("NAS001", f"unexpected `{scene.word}`", label, help="write the number itself: `choose 1 { ... }`")


def _bare_conditional(scene: Scene) -> Diagnostic | None:
    """`relu > if c then bn else tanh`."""
    if scene.word is None or scene.word.type != "IF" or "NAME" not in scene.expected or "LPAR" not in scene.expected:
        return None
    label = Label(scene.span(scene.position), "binds less than what stands before it")
    return Diagnostic("NAS001", "unexpected `if`", label, help="put it in parentheses: `(if ... then ... else ...)`")


def _equals_for_colon(scene: Scene) -> Diagnostic | None:
    if scene.word is None or scene.word.type != "EQUAL" or "COLON" not in scene.expected:
        return None
    label = Label(scene.span(scene.position), "`:` belongs here")
    return Diagnostic(
        "NAS004", "`=` where `:` is meant", label, help="an operation is given after a colon: `a -> b : relu`"
    )


def _wrong_equals(scene: Scene) -> Diagnostic | None:
    if scene.word is None:
        return None
    label = Label(scene.span(scene.position))
    if scene.word.type == "EQUAL" and "COMPARE" in scene.expected:
        return Diagnostic("NAS001", "unexpected `=`", label, help="write `==` to compare")
    if scene.word == "==" and "EQUAL" in scene.expected:
        return Diagnostic("NAS001", "unexpected `==`", label, help="write `=` to give a value")
    return None


def _side_by_side(scene: Scene) -> Diagnostic | None:
    """`a -> b relu` or `a -> b : bn relu`: two operands on one line with nothing between them."""
    for i in range(min(scene.position, len(scene.words) - 1), 0, -1):
        left, right = scene.words[i - 1], scene.words[i]
        if left.type in ("COLON", "LBRACE") or right.type == "COLON":
            return None
        if left.type not in _OPERAND_ENDS or right.type not in _OPERAND_BEGINS or not scene.same_line(i):
            continue
        end = scene.span(i - 1).end
        gap = Span(scene.source, end, end + 1)
        match _before(scene, i):
            case "arrow":
                help = "an operation is given after a colon: `a -> b : relu`"
                return Diagnostic("NAS003", f"missing `:` before `{right}`", Label(gap, "`:` belongs here"), help=help)
            case "colon" if right.type == "NAME":
                label = Label(scene.span(i), "nothing joins it to what stands before it")
                return Diagnostic("NAS001", f"unexpected `{right}`", label, help="operations are chained with `>`")
            case _:
                return None
    return None


def _before(scene: Scene, position: int) -> Literal["arrow", "colon", "neither"]:
    """What stands before on the same line: the colon of an operation, or only what should have one."""
    for i in range(position - 1, -1, -1):
        if scene.words[i] == "->" or scene.words[i].type in ("NODE", "NETWORK"):
            return "arrow"
        if scene.words[i].type == "COLON":
            return "colon"
        if i and not scene.same_line(i):
            break
    return "neither"


def _reserved_word(scene: Scene) -> Diagnostic | None:
    word, before = scene.word, scene.before
    if word is None or before is None or "NAME" not in scene.expected or word not in reserved_words():
        return None
    if word.type in _EXPRESSION_WORDS or not scene.same_line(scene.position):
        return None
    label = Label(scene.span(scene.position), "a word of the language")
    help = f"choose another, for instance `{word}_`"
    if before.type in ("LPAR", "COMMA") and "NUMBER" in scene.expected:
        help = "nothing has a parameter of that name; `bayesnas-graph ops` lists those of the operations"
    return Diagnostic("NAS010", f"`{word}` cannot be a name", label, help=help)


def _habit(scene: Scene) -> Diagnostic | None:
    """What other languages have taught."""
    word, before = scene.word, scene.before
    if word is None or before is None:
        return None
    after = scene.words[scene.position + 1] if scene.position + 1 < len(scene.words) else None
    at, label = scene.position, "not written like this"
    if word == "=" and after == ">":
        help = "an arrow is `->`"
    elif word == "=" and "->" in scene.expected_texts and before.type == "NAME":
        at, help = scene.position - 1, f"declare the node: `node {before} = ...`"
    elif before == "return":
        at, help = scene.position - 1, "outputs are given with `out`"
    elif before == "while":
        at, help = scene.position - 1, "a loop is `for i in 0..4 { ... }`"
    elif word.type == "DOT" and after is not None and after.type == "NUMBER":
        help = f"write `0.{after}`"
    elif before.type == "NUMBER" and word.type == "NAME" and word.lower().startswith("e") and scene.touches:
        help = "write the number out, without an exponent"
    else:
        return None
    return Diagnostic("NAS001", f"unexpected `{scene.words[at]}`", Label(scene.span(at), label), help=help)


def _misspelt_statement(scene: Scene) -> Diagnostic | None:
    before = scene.before
    if before is None or before.type != "NAME" or scene.word is None:
        return None
    if scene.word.type not in ("NAME", "LBRACE"):
        return None
    known = nearest(str(before), [name.lower() for name in _STATEMENT_BEGINS])
    if known is None:
        return None
    label = Label(scene.span(scene.position - 1), "no statement begins like this")
    return Diagnostic("NAS001", f"unexpected `{before}`", label, help=f"did you mean `{known}`?")


def _missing_then(scene: Scene) -> Diagnostic | None:
    for wanted in ("then", "else"):
        if wanted.upper() in scene.expected and "LBRACE" not in scene.expected and scene.word is not None:
            label = Label(scene.span(scene.position), f"`{wanted}` belongs before this")
            return Diagnostic(
                "NAS001", f"unexpected `{scene.word}`", label, help="a value that depends is `if ... then ... else ...`"
            )
    return None


def _unexpected(scene: Scene) -> Diagnostic:
    wanted = _in_words(scene.expected)
    if scene.word is None:
        last = scene.span(len(scene.words) - 1)
        label = Label(Span(scene.source, last.end, last.end + 1), f"expected {wanted}")
        return Diagnostic("NAS001", f"`{scene.words[0]}` is not complete", label)
    label = Label(scene.span(scene.position), f"expected {wanted}")
    return Diagnostic("NAS001", f"unexpected `{scene.word}`", label)


def _in_words(expected: frozenset[str]) -> str:
    """The expected terminals as a person would name them."""
    names = {t.name: str(t.pattern.value) for t in machine().lark.terminals if t.pattern.type == "str"}
    left = set(expected)
    said = []
    if left >= _EXPRESSION_BEGINS:
        said.append("an expression")
        left -= _EXPRESSION_BEGINS | {"OPTIONAL", "NOT", "SIGN", "LSQB", "BOOLEAN"}
    if left >= _STATEMENT_BEGINS:
        said.append("a statement")
        left -= _STATEMENT_BEGINS | {"NAME"}
    if left & {"SIGN", "TIMES", "COMPARE", "CIRCUMFLEX"}:
        said.append("an operator")
        left -= {"SIGN", "TIMES", "COMPARE", "CIRCUMFLEX", "VBAR", "AND", "OR", "DOTDOT", "DOT", "LPAR", "LSQB"}
        left -= {name for name, text in names.items() if text == ".."}
    said += ["a name"] * ("NAME" in left) + ["a number"] * ("NUMBER" in left) + ["a string"] * ("STRING" in left)
    said += sorted(f"`{names[name]}`" for name in left if name in names)
    if not said:
        return "the end of the definition"
    return said[0] if len(said) == 1 else ", ".join(said[:-1]) + f" or {said[-1]}"


_RECOGNISERS: tuple[Callable[[Scene], Diagnostic | None], ...] = (
    _not_a_definition,
    _network_without_types,
    _missing_budget,
    _definition_inside,
    _habit,
    _reserved_word,
    _stray_comma,
    _choose_count,
    _bare_conditional,
    _equals_for_colon,
    _wrong_equals,
    _missing_then,
    _side_by_side,
    _misspelt_statement,
    _unexpected,
)
