"""Python text: operands, and lines that fit."""

from __future__ import annotations

LINE = 110  # columns
_OPENING, _CLOSING = "([", ")]"


def operand(text: str) -> str:
    """An expression that can stand beside any operator and before any dot.

    >>> operand("x"), operand("f(a + b)"), operand("a + b")
    ('x', 'f(a + b)', '(a + b)')
    """
    return f"({text})" if " " in _outside(text) else text


def selected(gates: tuple[int, ...]) -> str:
    """The gates at some positions.

    >>> selected((3, 4, 5)), selected((1, 3))
    ('self.gates[3:6]', 'self.gates[[1, 3]]')
    """
    first, last = gates[0], gates[-1]
    if gates == tuple(range(first, last + 1)):
        return f"self.gates[{first}:{last + 1}]"
    return f"self.gates[{list(gates)}]"


def wrapped(line: str) -> list[str]:
    """A line, or several where it is too long: a sum broken at its terms, else the longest call at its arguments."""
    if len(line) <= LINE:
        return [line]
    indent = line[: len(line) - len(line.lstrip())]
    head, equals, value = line.partition(" = ")
    terms = _split(value, " + ") if equals and "(" not in head else []
    if len(terms) > 1:
        rows = [f"{indent}    {'+ ' if i else ''}{term}" for i, term in enumerate(terms)]
        return [f"{head} = (", *(row for long in rows for row in wrapped(long)), f"{indent})"]
    group = max(_groups(line), key=lambda g: g[1] - g[0], default=None)
    if group is None:
        return [line]
    start, end = group
    parts = [f"{indent}    {part}," for part in _split(line[start + 1 : end], ", ")]
    return [line[: start + 1], *(row for part in parts for row in wrapped(part)), indent + line[end:]]


def _groups(text: str) -> list[tuple[int, int]]:
    """Calls and lists that are in no other bracket: where each opens and closes."""
    found, level, start = [], 0, 0
    for i, character in enumerate(text):
        if character in _OPENING:
            start = i if level == 0 else start
            level += 1
        elif character in _CLOSING:
            level -= 1
            is_list = text[start] == "[" and not text[start - 1 : start].isalnum()
            is_call = text[start] == "(" and (text[start - 1 : start].isalnum() or text[start - 1 : start] in "_)")
            if level == 0 and i > start + 1 and (is_list or is_call):
                found.append((start, i))
    return found


def _outside(text: str) -> str:
    """The characters of a text that are in no bracket."""
    level, found = 0, ""
    for character in text:
        level -= character in _CLOSING
        found += character if level == 0 else ""
        level += character in _OPENING
    return found


def _split(text: str, separator: str) -> list[str]:
    """The parts of a text between separators that are in no bracket.

    >>> _split("a + f(b + c) + d", " + ")
    ['a', 'f(b + c)', 'd']
    """
    parts, level, start = [], 0, 0
    for i, character in enumerate(text):
        level += character in _OPENING
        level -= character in _CLOSING
        if level == 0 and text.startswith(separator, i):
            parts.append(text[start:i].strip())
            start = i + len(separator)
    return [*parts, text[start:].strip()]
