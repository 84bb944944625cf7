"""Lay out one statement: on one line if it fits, otherwise broken at brackets or operators.

A trailing comma before a closing bracket always breaks the bracket. A comment at the end of a line
stays at the end of a line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from bayesnas_graph.language.syntax.grammar import OPERAND_ENDS

MAX_COLUMNS = 100
INDENT = "    "

_PAIRS = {"(": ")", "[": "]", "{": "}"}
# Operators at which long lines are broken, lowest precedence first.
_BREAKABLE: tuple[frozenset[str], ...] = (
    frozenset({"then", "else"}),
    frozenset({"or"}),
    frozenset({"and"}),
    frozenset({">", "<", ">=", "<=", "==", "!="}),
    frozenset({"|"}),
    frozenset({"+", "-"}),
)


@dataclass(eq=False)
class FormatToken:
    """A token with its comments."""

    text: str
    type: str
    start: int
    before: list[tuple[str, bool]] = field(default_factory=list)  # comments above; is there a blank line before it?
    after: list[str] = field(default_factory=list)  # comments on the same line
    blank: bool = False
    unary: bool = False  # a prefix sign

    @property
    def ends_line(self) -> bool:
        """Whether the line must end after this token."""
        return any(comment.startswith("//") or "\n" in comment for comment in self.after)


@dataclass(frozen=True)
class Row:
    """One line of output, with the comment at its end."""

    text: str
    comment: str = ""
    depth: int = 0

    @property
    def code(self) -> str:
        return INDENT * self.depth + self.text


@dataclass(eq=False)
class _Group:
    """A pair of brackets and its contents."""

    opening: FormatToken
    inside: list[_Part]
    closing: FormatToken

    @property
    def breaks(self) -> bool:
        """Whether a trailing comma forces line breaks."""
        return bool(self.inside) and isinstance(self.inside[-1], FormatToken) and self.inside[-1].text == ","


_Part = FormatToken | _Group


def rows(tokens: Sequence[FormatToken], depth: int) -> list[Row]:
    """The rows of one statement."""
    for left, token in zip([None, *tokens], tokens, strict=False):
        token.unary = token.type == "SIGN" and (left is None or left.type not in OPERAND_ENDS)
    return _rows(_tree(tokens), depth)


def one_line(tokens: Sequence[FormatToken]) -> str:
    """The tokens on one line, with the comments between them."""
    text = ""
    for i, token in enumerate(tokens):
        if i and _has_space_before(tokens, i):
            text += " "
        text += token.text
        if i < len(tokens) - 1:
            text += "".join(f" {comment}" for comment in token.after)
    return text


# ---------------------------------------------------------------------------------- breaking


def _tree(tokens: Sequence[FormatToken]) -> list[_Part]:
    """Group the tokens by brackets. The opening brace of a body stays ungrouped: it closes on another line."""
    stack: list[tuple[FormatToken | None, list[_Part]]] = [(None, [])]
    for token in tokens:
        opening = stack[-1][0]
        if token.text in _PAIRS:
            stack.append((token, []))
        elif opening is not None and token.text == _PAIRS[opening.text]:
            _, inside = stack.pop()
            stack[-1][1].append(_Group(opening, inside, token))
        else:
            stack[-1][1].append(token)
    while len(stack) > 1:
        opening, inside = stack.pop()
        assert opening is not None, "only the bottom of the stack has no bracket"
        stack[-1][1].extend([opening, *inside])
    return stack[0][1]


def _flatten(parts: Sequence[_Part]) -> Iterator[FormatToken]:
    for part in parts:
        if isinstance(part, FormatToken):
            yield part
        else:
            yield part.opening
            yield from _flatten(part.inside)
            yield part.closing


def _groups(parts: Sequence[_Part]) -> Iterator[_Group]:
    for part in parts:
        if isinstance(part, _Group):
            yield part
            yield from _groups(part.inside)


def _rows(parts: Sequence[_Part], depth: int) -> list[Row]:
    """The rows of some parts."""
    tokens = list(_flatten(parts))
    above = [Row(comment, depth=depth) for comment, _ in tokens[0].before] if tokens else []
    text = one_line(tokens)
    inner_comments = any(token.before for token in tokens[1:]) or any(token.ends_line for token in tokens[:-1])
    forced = any(group.breaks for group in _groups(parts))
    if not inner_comments and not forced and len(INDENT * depth + text) <= MAX_COLUMNS:
        return [*above, _last(text, tokens[-1], depth)]
    broken = (
        _broken_clauses(parts, depth)
        or _broken_label(parts, depth)
        or _broken_group(parts, depth, forced)
        or _broken_operators(parts, depth)
        or _broken_group(parts, depth, True)
    )
    if broken is None:
        broken = _broken_comments(tokens, depth) if inner_comments else [_last(text, tokens[-1], depth)]
    return [*above, *broken]


def _last(text: str, token: FormatToken, depth: int) -> Row:
    return Row(text, " ".join(token.after), depth)


def _broken_group(parts: Sequence[_Part], depth: int, always: bool) -> list[Row] | None:
    """Break the longest bracket if it is most of the line: each element gets its own line."""
    candidates = [i for i, part in enumerate(parts) if isinstance(part, _Group) and part.inside]
    if not candidates:
        return None
    lengths = {i: len(one_line(list(_flatten([parts[i]])))) for i in candidates}
    forced = [i for i in candidates if any(group.breaks for group in _groups([parts[i]]))]
    chosen = max(forced or candidates, key=lambda i: lengths[i])
    if not always and not forced and lengths[chosen] * 2 < len(one_line(list(_flatten(parts)))):
        return None
    group = parts[chosen]
    assert isinstance(group, _Group), "only groups are candidates"
    head, tail = [*parts[:chosen], group.opening], [group.closing, *parts[chosen + 1 :]]
    comments = [Row(comment, depth=depth + 1) for comment, _ in group.closing.before]
    group.closing.before = []
    first = _broken_comments(list(_flatten(head)), depth)
    inside = [row for piece in _pieces(group.inside) for row in _rows(piece, depth + 1)]
    return [*first, *inside, *comments, *_rows(tail, depth)]


def _pieces(parts: Sequence[_Part]) -> Iterator[list[_Part]]:
    """Split the parts after each comma."""
    piece: list[_Part] = []
    for part in parts:
        piece.append(part)
        if isinstance(part, FormatToken) and part.text == ",":
            yield piece
            piece = []
    if piece:
        yield piece


def _broken_clauses(parts: Sequence[_Part], depth: int) -> list[Row] | None:
    """Break a comprehension before each `for` and before its `if`."""
    cuts = [i for i, part in enumerate(parts) if i and isinstance(part, FormatToken) and part.text == "for"]
    if not cuts:
        return None
    for i in range(cuts[-1], len(parts)):
        part, left = parts[i], parts[i - 1]
        last = left.closing if isinstance(left, _Group) else left
        if isinstance(part, FormatToken) and part.text == "if" and last.type in OPERAND_ENDS:
            cuts.append(i)
            break
    pieces = zip([0, *cuts], [*cuts, len(parts)], strict=True)
    return [row for start, end in pieces for row in _rows(parts[start:end], depth)]


def _broken_label(parts: Sequence[_Part], depth: int) -> list[Row] | None:
    """Break before the `:` that follows a conditional source: `node h[i in 0..4] = if ... : relu`."""
    texts = [part.text if isinstance(part, FormatToken) else "" for part in parts]
    colon = texts.index(":") if ":" in texts else 0
    if "then" not in texts[:colon]:
        return None
    return [*_rows(parts[:colon], depth), *_rows(parts[colon:], depth + 1)]


def _broken_operators(parts: Sequence[_Part], depth: int) -> list[Row] | None:
    """Break before the operators of lowest precedence outside brackets."""
    for operators in _BREAKABLE:
        cuts = [i for i, part in enumerate(parts) if i and isinstance(part, FormatToken) and part.text in operators]
        if cuts:
            broken = _rows(parts[: cuts[0]], depth)
            for start, end in zip(cuts, [*cuts[1:], len(parts)], strict=True):
                broken += _rows(parts[start:end], depth + 1)
            return broken
    return None


def _broken_comments(tokens: Sequence[FormatToken], depth: int) -> list[Row]:
    """Break only where a comment requires it."""
    broken: list[Row] = []
    start = 0
    for i, token in enumerate(tokens):
        last = i == len(tokens) - 1
        if last or token.ends_line or tokens[i + 1].before:
            run = tokens[start : i + 1]
            here = depth + (start > 0)
            if start:
                broken += [Row(comment, depth=here) for comment, _ in run[0].before]
            broken.append(_last(one_line(run), run[-1], here))
            start = i + 1
    return broken


# ---------------------------------------------------------------------------------- spacing


def _has_space_before(tokens: Sequence[FormatToken], i: int) -> bool:
    """Whether there is a space before token `i`, which is not the first on its line."""
    left, right = tokens[i - 1], tokens[i]
    if left.after:
        return True
    if right.text in (",", ")", "]") or left.text in ("(", "["):
        return False
    if left.text == "{" and right.text == "}":
        return False
    if right.text in (".", "..", "^") or left.text in (".", "..", "^"):
        return False
    if right.text in ("(", "["):
        return left.type not in ("NAME", "RPAR", "RSQB")
    return not left.unary
