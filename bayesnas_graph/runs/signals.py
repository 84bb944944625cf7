"""Interrupting a run by a signal, between two steps."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

HANGUP = getattr(signal, "SIGHUP", None)  # not on Windows
AGAIN = 1.0  # seconds: `torchrun` forwards a Ctrl-C that its processes have already received from the terminal


@contextmanager
def stopping(*, say: bool = True) -> Iterator[Callable[[], bool]]:
    """Stop after the current step on Ctrl-C, SIGTERM, or when the terminal is closed.

    A step may take long, so a message is printed; a second signal stops at once. Only a terminal that closes never
    does: the shell and the system both tell of it, each when it gets to it.
    """
    requests: list[float] = []

    def ask(number: int, _frame: FrameType | None) -> None:
        if requests and number != HANGUP and time.monotonic() - requests[0] > AGAIN:
            raise KeyboardInterrupt
        if say and not requests:
            with suppress(OSError):  # the terminal is gone
                os.write(2, b"stopping after this step\n")  # print is not safe in a signal handler
        requests.append(time.monotonic())

    if threading.current_thread() is not threading.main_thread():  # only the main thread handles signals
        yield lambda: False
        return
    before = {number: signal.signal(number, ask) for number in _signals()}
    try:
        yield lambda: bool(requests)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _signals() -> list[signal.Signals]:
    """Return the signals to stop at; under `nohup`, a closed terminal is ignored."""
    signals = [signal.SIGINT, signal.SIGTERM]
    if HANGUP is not None and signal.getsignal(HANGUP) is not signal.SIG_IGN:
        signals.append(HANGUP)
    return signals
