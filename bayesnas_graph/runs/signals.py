"""Stopping a run by a signal, between two steps."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

AGAIN = 1.0  # seconds: `torchrun` hands on a Ctrl-C that its processes have had from the terminal, and means the same


@contextmanager
def stopping(*, say: bool = True) -> Iterator[Callable[[], bool]]:
    """Ctrl-C, a polite kill and a terminal that is gone are heeded after the step that is being taken.

    A step may be long, so it is said; the second time is heeded at once.
    """
    asked: list[float] = []

    def ask(_number: int, _frame: FrameType | None) -> None:
        if asked and time.monotonic() - asked[0] > AGAIN:
            raise KeyboardInterrupt
        if say and not asked:
            with suppress(OSError):  # nobody can hear
                os.write(2, b"stopping after this step\n")  # printing is not safe here: it may be going on
        asked.append(time.monotonic())

    if threading.current_thread() is not threading.main_thread():  # signals belong to the main thread
        yield lambda: False
        return
    before = {number: signal.signal(number, ask) for number in _heeded()}
    try:
        yield lambda: bool(asked)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _heeded() -> list[signal.Signals]:
    """The signals to stop at. Under `nohup` a terminal may go away without harm."""
    found = [signal.SIGINT, signal.SIGTERM]
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        found.append(signal.SIGHUP)
    return found
