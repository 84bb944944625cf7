"""Data that are named as `KIND:PATH`."""

from __future__ import annotations

from bayesnas_graph.data.datasets import READERS
from bayesnas_graph.runs.consent import FILE_KINDS, names_code


def test_files_need_no_consent() -> None:
    assert {"folder", "hf", *READERS} == FILE_KINDS
    assert not any(names_code(f"{kind}:file") for kind in FILE_KINDS)
