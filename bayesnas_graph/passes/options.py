"""Options of passes: how a network will be searched and run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

DeviceKind = Literal["cpu", "cuda"]
Mode = Literal["written", "proxy", "proxyless"]
ZeroSide = Literal["before", "after"]


@dataclass(frozen=True, slots=True)
class Options:
    """`zero` and `mode` change the switches of a network; the others affect only its speed."""

    zero: ZeroSide = "after"  # where the zero switch of a choice is (`insert_zero_identity`)
    mode: Mode = "written"  # which gates are one switch (`group_switches`)
    device: DeviceKind = "cpu"
    batch: int = 64  # samples at a time
    apart: bool = False  # compute no two candidates of a choice as one, so that each can be left out
    sites: tuple[tuple[str, bool], ...] = ()  # siblings that were timed, and whether they are faster fused


DEFAULT = Options()
