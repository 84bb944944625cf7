"""Running code as it is written that `torch.compile` has compiled."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def uncompiled() -> Iterator[None]:
    """Run compiled regions as they are written within this block: in passes that are few, or whose shapes vary.

    A pass at rest, without gradients, with a smaller batch or with a `Watch` would each be compiled for itself.
    """
    if "torch._dynamo" not in sys.modules:  # nothing is compiled, and loading it takes seconds
        yield
        return
    with torch.compiler.set_stance("force_eager"):
        yield
