"""The network that is trained or measured: one without choices, and the files that it came from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bayesnas_graph.cli.running import subject_of

if TYPE_CHECKING:
    from bayesnas_graph.search.config import Samples
    from bayesnas_graph.search.run import Subject


def network_of(path: Path, config: Samples, *, allow_python: bool) -> Subject:
    """The network that a path leads to, of the name and with the parameters that settings tell. Raises NasError.

    The path is that of a file, or the name of a shipped space.
    """
    from bayesnas_graph.train.course import check_fixed

    subject = subject_of(path, str(path), config, allow_python=allow_python)
    check_fixed(subject.network)
    return subject
