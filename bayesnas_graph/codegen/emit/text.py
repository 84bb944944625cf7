"""Python text: docstrings, operands, and lines that fit."""

from __future__ import annotations

from textwrap import wrap

LINE = 110  # columns
_OPENING, _CLOSING = "([", ")]"


def docstring(text: str) -> str:
    """A docstring of any text: nothing in it can end it, escape a character, or declare an encoding.

    >>> docstring('net "x" # 1')[3:-3]
    "net 'x' ? 1"
    """
    safe = (c if c == "\n" or (c.isprintable() and c not in "\\#") else "?" for c in text.replace('"', "'"))
    return f'"""{"".join(safe)}"""'


def wrapped_lines(text: str) -> list[str]:
    """The lines of a text, of which long ones are wrapped.

    >>> wrapped_lines("a" * 60 + " " + "b" * 60 + chr(10) + "c")[1:]
    ['bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb', 'c']
    """
    return [part for line in text.split("\n") for part in wrap(line, LINE - 10, break_on_hyphens=False) or [""]]


def class_docstring(*paragraphs: str) -> list[str]:
    """The lines of the docstring of a class, indented, of any texts. Long lines are wrapped.

    >>> class_docstring("A stage.", "", "Of any size.")[1:3]
    ['', '    Of any size.']
    """
    lines: list[str] = []
    for paragraph in filter(str.strip, paragraphs):
        lines += [""] if lines else []
        lines += wrapped_lines(paragraph.strip())
    whole = docstring("\n".join([*lines, ""] if len(lines) > 1 else lines))
    return [f"    {line}" if line else "" for line in whole.split("\n")]


def operand(text: str) -> str:
    """An expression that can be next to any operator and before any dot.

    >>> operand("x"), operand("f(a + b)"), operand("a + b")
    ('x', 'f(a + b)', '(a + b)')
    """
    return f"({text})" if " " in _outside(text) else text


def addend(text: str, *, first: bool) -> str:
    """An expression that can be part of a sum, which is evaluated from the left.

    >>> addend("a * b", first=False), addend("a + b", first=True), addend("a + b", first=False)
    ('a * b', 'a + b', '(a + b)')
    """
    operators = set(_outside(text).split()[1::2])
    return text if operators <= ({"*", "+"} if first else {"*"}) else operand(text)


def selected(gates: tuple[int, ...], count: int) -> str:
    """The gates at some of `count` positions.

    >>> selected((3, 4, 5), 8), selected((1, 3), 8), selected((0, 1), 2)
    ('self.gates[3:6]', 'self.gates[[1, 3]]', 'self.gates')
    """
    first, last = gates[0], gates[-1]
    if gates == tuple(range(count)):
        return "self.gates"
    if gates == tuple(range(first, last + 1)):
        return f"self.gates[{first}:{last + 1}]"
    return f"self.gates[{list(gates)}]"


def wrapped(line: str) -> list[str]:
    """A line, or several if it is too long: a sum is split at its terms, else the longest call at its arguments."""
    if len(line) <= LINE:
        return [line]
    indent = line[: len(line) - len(line.lstrip())]
    head, value = _statement(line)
    terms = _split(value, " + ") if head else []
    if len(terms) > 1:
        if len(f"{indent}    {value}") <= LINE:
            return [f"{head}(", f"{indent}    {value}", f"{indent})"]
        rows = [f"{indent}    {'+ ' if i else ''}{part}" for i, part in enumerate(terms)]
        return [f"{head}(", *(row for long in rows for row in wrapped(long)), f"{indent})"]
    group = max(_groups(line), key=lambda g: g[1] - g[0], default=None)
    if group is None:
        return [line]
    start, end = group
    inside = f"{indent}    {line[start + 1 : end]}"
    if len(inside) <= LINE:
        return [line[: start + 1], inside, indent + line[end:]]
    parts = [f"{indent}    {part}" for part in _split(inside, ", ")]
    parts = [f"{part}," for part in parts] if len(parts) > 1 else parts
    return [line[: start + 1], *(row for part in parts for row in wrapped(part)), indent + line[end:]]


def _statement(line: str) -> tuple[str, str]:
    """The beginning of an assignment or a return, and its value."""
    if line.lstrip().startswith("return "):
        head, word, value = line.partition("return ")
        return head + word, value
    head, equals, value = line.partition(" = ")
    return (head + equals, value) if equals and "(" not in head else ("", line)


def _groups(text: str) -> list[tuple[int, int]]:
    """The start and end of every top-level pair of brackets."""
    groups, level, start = [], 0, 0
    for i, character in enumerate(text):
        if character in _OPENING:
            start = i if level == 0 else start
            level += 1
        elif character in _CLOSING:
            level -= 1
            is_list = text[start] == "[" and not text[start - 1 : start].isalnum()
            is_call = text[start] == "(" and (text[start - 1 : start].isalnum() or text[start - 1 : start] in "_)")
            if level == 0 and i > start + 1 and (is_list or is_call):
                groups.append((start, i))
    return groups


def _outside(text: str) -> str:
    """The characters of a text outside all brackets."""
    level, outside = 0, ""
    for character in text:
        level -= character in _CLOSING
        outside += character if level == 0 else ""
        level += character in _OPENING
    return outside


def _split(text: str, separator: str) -> list[str]:
    """The parts of a text between separators outside all brackets.

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
