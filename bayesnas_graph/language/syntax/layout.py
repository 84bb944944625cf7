"""How one statement is laid out: on one line if it fits, else broken at brackets or operators.

A comma before a closing bracket keeps that bracket broken, however short it is. A comment that ends
its line ends it here too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

LINE = 100  # columns
INDENT = "    "

_PAIRS = {"(": ")", "[": "]", "{": "}"}
# Where a line that is too long is broken, loosest first.
_BREAKABLE: tuple[frozenset[str], ...] = (
    frozenset({"then", "else"}),
    frozenset({">", "<", ">=", "<=", "==", "!="}),
    frozenset({"or"}),
    frozenset({"and"}),
    frozenset({"|"}),
    frozenset({"+", "-"}),
)


@dataclass(eq=False)
class Word:
    """A word with the comments that belong to it."""

    text: str
    type: str
    start: int
    before: list[tuple[str, bool]] = field(default_factory=list)  # on lines of their own; blank line before?
    after: list[str] = field(default_factory=list)  # on the same line
    blank: bool = False
    unary: bool = False  # a sign before its operand

    @property
    def ends_line(self) -> bool:
        """Whether nothing can follow on the same line."""
        return any(comment.startswith("//") or "\n" in comment for comment in self.after)


@dataclass(frozen=True)
class Row:
    """One line of the result: text, and the comment at its end."""

    text: str
    comment: str = ""
    depth: int = 0

    @property
    def code(self) -> str:
        return INDENT * self.depth + self.text


@dataclass(eq=False)
class _Group:
    """A bracket with what is in it."""

    opening: Word
    inside: list[_Part]
    closing: Word

    @property
    def breaks(self) -> bool:
        """Whether a comma before the closing bracket asks for broken lines."""
        return bool(self.inside) and isinstance(self.inside[-1], Word) and self.inside[-1].text == ","


_Part = Word | _Group


def rows(words: Sequence[Word], depth: int) -> list[Row]:
    """The rows of one statement."""
    for left, word in zip([None, *words], words, strict=False):
        word.unary = word.type == "SIGN" and (left is None or left.type not in _OPERAND_ENDS)
    return _rows(_tree(words), depth)


def flat(words: Sequence[Word]) -> str:
    """The words on one line, with single-line comments between them."""
    out = ""
    previous: Word | None = None
    for i, word in enumerate(words):
        if previous is not None and _spaced(words, i):
            out += " "
        out += word.text
        last = i == len(words) - 1
        if word.after and not last:
            out += "".join(f" {comment}" for comment in word.after)
        previous = word
    return out


# ---------------------------------------------------------------------------------- breaking


def _tree(words: Sequence[Word]) -> list[_Part]:
    """The words with matching brackets folded; the brace of a body has its match on another line."""
    stack: list[tuple[Word | None, list[_Part]]] = [(None, [])]
    for word in words:
        opening = stack[-1][0]
        if word.text in _PAIRS:
            stack.append((word, []))
        elif opening is not None and word.text == _PAIRS[opening.text]:
            _, inside = stack.pop()
            stack[-1][1].append(_Group(opening, inside, word))
        else:
            stack[-1][1].append(word)
    while len(stack) > 1:
        opening, inside = stack.pop()
        assert opening is not None, "only the first entry has no bracket"
        stack[-1][1].extend([opening, *inside])
    return stack[0][1]


def _words(parts: Sequence[_Part]) -> Iterator[Word]:
    for part in parts:
        if isinstance(part, Word):
            yield part
        else:
            yield part.opening
            yield from _words(part.inside)
            yield part.closing


def _groups(parts: Sequence[_Part]) -> Iterator[_Group]:
    for part in parts:
        if isinstance(part, _Group):
            yield part
            yield from _groups(part.inside)


def _rows(parts: Sequence[_Part], depth: int, lead: str = "") -> list[Row]:
    """Rows for some parts, the first of them after `lead` on its line."""
    words = list(_words(parts))
    above = [Row(comment, depth=depth) for comment, _ in words[0].before] if words else []
    text = lead + flat(words)
    inner_comments = any(word.before for word in words[1:]) or any(word.ends_line for word in words[:-1])
    asked = any(group.breaks for group in _groups(parts))
    if not inner_comments and not asked and len(INDENT * depth + text) <= LINE:
        return [*above, _last(text, words[-1], depth)]
    broken = _broken_group(parts, depth, asked) or _broken_operators(parts, depth) or _broken_group(parts, depth, True)
    if broken is None:
        broken = _broken_comments(words, depth) if inner_comments else [_last(text, words[-1], depth)]
    return [*above, *broken]


def _last(text: str, word: Word, depth: int) -> Row:
    return Row(text, " ".join(word.after), depth)


def _broken_group(parts: Sequence[_Part], depth: int, always: bool) -> list[Row] | None:
    """Break the longest bracket, if it is most of the line; what it holds goes on lines of its own."""
    candidates = [i for i, part in enumerate(parts) if isinstance(part, _Group) and part.inside]
    if not candidates:
        return None
    lengths = {i: len(flat(list(_words([parts[i]])))) for i in candidates}
    asked = [i for i in candidates if any(group.breaks for group in _groups([parts[i]]))]
    chosen = max(asked or candidates, key=lambda i: lengths[i])
    if not always and not asked and lengths[chosen] * 2 < len(flat(list(_words(parts)))):
        return None
    group = parts[chosen]
    assert isinstance(group, _Group), "only groups are candidates"
    head, tail = [*parts[:chosen], group.opening], [group.closing, *parts[chosen + 1 :]]
    comments = [Row(comment, depth=depth + 1) for comment, _ in group.closing.before]
    group.closing.before = []
    first = _broken_comments(list(_words(head)), depth)
    inside = [row for piece in _pieces(group.inside) for row in _rows(piece, depth + 1)]
    return [*first, *inside, *comments, *_rows(tail, depth)]


def _pieces(parts: Sequence[_Part]) -> Iterator[list[_Part]]:
    """The parts between commas, each with its comma."""
    piece: list[_Part] = []
    for part in parts:
        piece.append(part)
        if isinstance(part, Word) and part.text == ",":
            yield piece
            piece = []
    if piece:
        yield piece


def _broken_operators(parts: Sequence[_Part], depth: int) -> list[Row] | None:
    """Break before the loosest operators that stand outside of brackets."""
    for operators in _BREAKABLE:
        cuts = [i for i, part in enumerate(parts) if i and isinstance(part, Word) and part.text in operators]
        if cuts:
            found = _rows(parts[: cuts[0]], depth)
            for start, end in zip(cuts, [*cuts[1:], len(parts)], strict=True):
                found += _rows(parts[start:end], depth + 1)
            return found
    return None


def _broken_comments(words: Sequence[Word], depth: int) -> list[Row]:
    """Break only where a comment demands it."""
    found: list[Row] = []
    start = 0
    for i, word in enumerate(words):
        last = i == len(words) - 1
        if last or word.ends_line or words[i + 1].before:
            run = words[start : i + 1]
            here = depth + (start > 0)
            if start:
                found += [Row(comment, depth=here) for comment, _ in run[0].before]
            found.append(_last(flat(run), run[-1], here))
            start = i + 1
    return found


# ---------------------------------------------------------------------------------- spacing

_OPERAND_ENDS = {"NAME", "NUMBER", "BOOLEAN", "RPAR", "RSQB", "RBRACE", "OUT"}


def _spaced(words: Sequence[Word], i: int) -> bool:
    """Whether a space stands before a word that follows another on its line."""
    left, right = words[i - 1], words[i]
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
