"""A higher recursion limit and no garbage collection, while at least one thread needs them.

Both are process-wide settings. They are changed when the first thread enters and restored when the last one leaves, so
overlapping threads do not interfere with each other.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

DEEPEST_STACK = 10_000  # Python frames: enough for `Limits.depth` nested motifs


class _DeepStack:
    def __init__(self) -> None:
        self._lock = Lock()
        self._users = 0
        self._limit = 0
        self._collects = False

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """Allow deep recursion without garbage collection: syntax trees are deep and large, but have no cycles."""
        with self._lock:
            if self._users == 0:
                self._limit, self._collects = sys.getrecursionlimit(), gc.isenabled()
                sys.setrecursionlimit(max(self._limit, DEEPEST_STACK))
                gc.disable()
            self._users += 1
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if self._users == 0:
                    sys.setrecursionlimit(self._limit)
                    if self._collects:
                        gc.enable()


deep_stack = _DeepStack()
