"""A grid of settings: every combination of values, each with several seeds."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from bayesnas_graph.diagnostics import Diagnostic, Label, NasError, Report
from bayesnas_graph.diagnostics.source import Source, Span
from bayesnas_graph.runs.config.search import SearchConfig
from bayesnas_graph.runs.settings import Settings, assigned, configured

MOST = 10_000  # runs of a sweep
LONGEST = 120  # characters of a folder name

_KNOWN = {known for name, field in SearchConfig.model_fields.items() for known in (name, field.alias)}


@dataclass(frozen=True, eq=False)
class SweepAxis:
    """A setting, and its values."""

    key: Span
    values: tuple[Span, ...]


@dataclass(frozen=True)
class Point:
    """One run of a sweep: values as written, a seed, and the resulting settings."""

    name: str  # of its folder
    values: tuple[tuple[str, str], ...]
    seed: int
    config: SearchConfig

    @property
    def shown(self) -> str:
        """A readable description: `lambda=0.01 seed=2`."""
        return " ".join(f"{key}={value}" for key, value in (*self.values, ("seed", str(self.seed))))


def axis(text: str) -> SweepAxis:
    """Parse `key=a,b,c` from the command line. Commas in quotes or braces do not separate. Raises NasError.

    >>> [value.text for value in axis("data=digits, 'folder:a,b'").values]
    ['digits', "'folder:a,b'"]
    """
    source = Source("the command line", text)
    key, equals, _ = text.partition("=")
    if not equals or not key.strip():
        label = Label(Span(source, 0, len(text)), "should be `key=a,b,c`")
        raise NasError([Diagnostic("NAS601", f"`{text}` is not an axis of a sweep", label)])
    parsed = SweepAxis(_stripped(source, 0, len(key)), tuple(_parted(source, len(key) + 1)))
    empty = next((value for value in parsed.values if not value.text), None)
    if empty is not None:
        label = Label(empty, "no value here")
        raise NasError([Diagnostic("NAS601", f"a value of `{parsed.key.text}` is missing", label)])
    return parsed


def points(
    settings: Sequence[Settings], axes: Sequence[SweepAxis], seeds: int, *, allow_python: bool = False
) -> tuple[Point, ...]:
    """Return the whole grid, validated. Raises NasError with all errors, each once."""
    first = configured(settings, allow_python=allow_python).seed
    _check_axes(axes, seeds)
    report, known = Report(), dict[str, tuple[Span, ...]]()
    configs: list[tuple[tuple[Span, ...], SearchConfig]] = []
    for values in product(*(axis.values for axis in axes)):
        chosen = [*settings, *(_Chosen.of(axis, value) for axis, value in zip(axes, values, strict=True))]
        try:
            for seed in range(first, first + seeds):
                configs.append((values, configured([*chosen, _seeded(seed, seeds)], allow_python=allow_python)))
        except NasError as error:
            for diagnostic in error.diagnostics:
                report.add(diagnostic)
            continue
        same = known.setdefault(configs[-1][1].model_dump_json(), values)
        if same is not values:
            report.add(_twice(same, values))
    if report.diagnostics:
        raise NasError(report.diagnostics)
    return tuple(_named(axes, configs))


@dataclass(frozen=True, eq=False)
class _Chosen(Settings):
    """A value of an axis, with its location for error messages."""

    axis: SweepAxis
    value: Span

    @staticmethod
    def of(axis: SweepAxis, value: Span) -> _Chosen:
        values: Mapping[str, object] = assigned(f"{axis.key.text}={value.text}").values
        return _Chosen(axis.key.source, values, axis, value, origin="command line")

    def place(self, path: Sequence[str | int]) -> Span:
        return self.value if path[0] in _KNOWN else self.axis.key


def _seeded(seed: int, seeds: int) -> Settings:
    return Settings(Source("the command line", f"--seeds {seeds}"), {"seed": seed}, origin="command line")


def _check_axes(axes: Sequence[SweepAxis], seeds: int) -> None:
    report, seen = Report(), dict[str, Span]()
    for axis in axes:
        name = axis.key.text
        if name == "seed":
            help = "`--seeds 5` takes five seeds, starting at `--seed`"
            report.add(Diagnostic("NAS601", "a seed cannot be an axis of a grid", Label(axis.key), help=help))
        if name in seen:
            before = (Label(seen[name], "first here"),)
            help = "write all values after one `--sweep`"
            report.add(Diagnostic("NAS601", f"`{name}` is swept twice", Label(axis.key), before, help=help))
        seen.setdefault(name, axis.key)
    number = prod(len(axis.values) for axis in axes) * seeds
    if number > MOST:
        help = f"a sweep has at most {MOST:,}"
        report.add(Diagnostic("NAS601", f"the grid has {number:,} runs", help=help))
    if report.diagnostics:
        raise NasError(report.diagnostics)


def _twice(first: tuple[Span, ...], second: tuple[Span, ...]) -> Diagnostic:
    """Report two points of a grid that are the same search."""
    one, other = next((a, b) for a, b in zip(first, second, strict=True) if a is not b)
    label = Label(other, f"the same search as with `{one.text}`")
    help = "omit one of them, or check whether another setting disables it"
    return Diagnostic("NAS601", f"`{other.text}` makes no difference", label, help=help)


def _named(axes: Sequence[SweepAxis], configs: Sequence[tuple[tuple[Span, ...], SearchConfig]]) -> Iterator[Point]:
    taken: set[str] = set()
    for number, (spans, config) in enumerate(configs):
        values = tuple((axis.key.text, span.text) for axis, span in zip(axes, spans, strict=True))
        words = ",".join(f"{key}={value}" for key, value in (*values, ("seed", str(config.seed))))
        name = re.sub(r"[^A-Za-z0-9_.,=+-]+", "_", words)
        if len(name) > LONGEST or name.lower() in taken:  # some file systems ignore case
            name = f"{name[:LONGEST]},{number}"
        taken.add(name.lower())
        yield Point(name, values, config.seed, config)


def _parted(source: Source, start: int) -> Iterator[Span]:
    """Yield the parts between commas."""
    value = re.compile(r"""(?:"[^"]*"|'[^']*'|\{[^}]*\}|[^,])*""")
    while True:
        match = value.match(source.text, start)
        assert match is not None, "it may be empty"
        yield _stripped(source, start, match.end())
        if match.end() == len(source.text):
            return
        start = match.end() + 1


def _stripped(source: Source, start: int, end: int) -> Span:
    text = source.text[start:end]
    start += len(text) - len(text.lstrip())
    return Span(source, start, start + len(text.strip()))
