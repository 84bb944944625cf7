"""A space that is a string rather than a file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.diagnostics.reading import real_path
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.language.elaborate.limits import LARGEST_FILE


@dataclass(frozen=True)
class Text:
    """The text of a space, which can be used wherever a file can.

    >>> Text("network net : vector(2) -> vector(2) { in x out x }", name="net.nas").stem
    'net'
    """

    text: str = field(repr=False)
    name: str = "text.nas"  # in messages, and that of its copy in a run folder
    folder: Path | None = None  # where imports are looked up; by default the current folder
    origins: Mapping[int, str] = field(default_factory=dict, repr=False, compare=False)  # see `Source.origins`

    @property
    def stem(self) -> str:
        """The name without `.nas`, as it can be part of a file name."""
        stem = self.name.removesuffix(".nas")
        return stem if re.fullmatch(r"[\w.-]{1,60}", stem, re.ASCII) and not stem.startswith((".", "-")) else "text"

    def __str__(self) -> str:
        return self.name

    def source(self) -> Source:
        """The text as a source. Raises NasError if a file with this text could not be read."""
        try:
            size = len(self.text.encode())
        except UnicodeEncodeError as error:
            message = f"cannot read `{self.name}`: character {error.start} is not valid Unicode"
            raise NasError([Diagnostic("NAS011", message)]) from None
        if size > LARGEST_FILE:
            message = f"cannot read `{self.name}`: larger than {LARGEST_FILE // 2**20} MiB"
            raise NasError([Diagnostic("NAS406", message)])
        text = self.text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
        return Source(self.name, text, self.origins)

    def path(self) -> Path:
        """The path of a file beside which imports are looked up. There is no such file, so that it is not imported."""
        path = real_path(self.folder or Path()) / f"{self.stem}.nas"
        while path.exists():
            path = path.with_name(f"_{path.name}")
        return path
