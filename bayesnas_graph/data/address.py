"""Data that are named by a kind, a place and options: `csv:FILE?target=COLUMN&test=0.1`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from urllib.parse import unquote

from bayesnas_graph.data.checked import reject
from bayesnas_graph.diagnostics import Diagnostic, NasError, did_you_mean

TEST_SHARE = 0.2  # of examples, for testing, unless the address says otherwise


@dataclass(frozen=True)
class Address:
    """Where data are, and the options of reading them."""

    spec: str  # as the user wrote it
    place: str
    options: Mapping[str, str]

    @property
    def path(self) -> Path:
        """The place as the path of a file or folder."""
        return Path(self.place).expanduser()

    @property
    def test_share(self) -> float:
        """The share of examples for testing. Raises NasError."""
        text = self.options.get("test")
        try:
            share = TEST_SHARE if text is None else float(text)
        except ValueError:
            share = 0.0
        if not isfinite(share) or not 0 < share < 1:
            reject(self.spec, f"has `{text}` as `test`", "give the share of examples for testing, such as `test=0.2`")
        return share

    def check_file(self) -> None:
        """Raise NasError if there is no such file."""
        if not self.path.exists():
            message = f"`{self.path}` does not exist"
            raise NasError([Diagnostic("NAS502", message, help="give the path of the file")])


def parse_address(spec: str, known: Sequence[str]) -> Address:
    """Return the parts of an address whose options are `known`. Raises NasError.

    A character that separates options is written as in a web address: `%26` is `&`, and `%2C` a comma.

    >>> address = parse_address("csv:irises.csv?target=kind&test=0.1", ("target", "test"))
    >>> address.place, address.options["target"], address.test_share
    ('irises.csv', 'kind', 0.1)
    """
    place, mark, query = spec.partition(":")[2].partition("?")
    options: dict[str, str] = {}
    for assignment in query.split("&") if mark else []:
        key, _, value = assignment.partition("=")
        if key not in known:
            listed = ", ".join(f"`{name}`" for name in known)
            reject(spec, f"has an unknown option `{key}`", did_you_mean(key, known) or f"the options are {listed}")
        if not value:
            reject(spec, f"has no value for `{key}`", f"write `{key}=VALUE`, or leave it out")
        if key in options:
            reject(spec, f"has two values for `{key}`", "give one of them")
        options[key] = value
    if not place:
        reject(spec, "does not say where the data are", "name the file or folder after the colon")
    return Address(spec, place, options)


def names_in(text: str) -> list[str]:
    """Return the names in a list with commas.

    >>> names_in("width,a%2Cb")
    ['width', 'a,b']
    """
    return [unquote(name) for name in text.split(",")]
