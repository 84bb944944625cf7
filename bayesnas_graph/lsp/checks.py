"""Check documents while they are being written: a while after the last change, one at a time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from lsprotocol import types

from bayesnas_graph.diagnostics import Diagnostic
from bayesnas_graph.lsp.problems import problems
from bayesnas_graph.lsp.reading import Reading
from bayesnas_graph.lsp.session import Session

QUIET = 0.15  # seconds without a change before a document is checked
PATIENCE = 0.7  # seconds after which the problems found so far are shown

Publish = Callable[[types.PublishDiagnosticsParams], None]
log = logging.getLogger(__name__)


class Checks:
    """Runs the checks of a session, and publishes what they find."""

    def __init__(self, session: Session, publish: Publish) -> None:
        self.session = session
        self.publish = publish
        self._waiting: dict[str, asyncio.TimerHandle] = {}
        self._running: set[asyncio.Task[None]] = set()
        self._one = asyncio.Lock()

    def start(self, uri: str) -> None:
        """Check a document soon, and those that import it. A check that was about to run is put off."""
        for each in (uri, *self.session.importers(uri)):
            self._put_off(each)
            self._waiting[each] = asyncio.get_running_loop().call_later(QUIET, self._begin, each)

    def forget(self, uri: str) -> None:
        """Stop checking a document, and remove what was shown about it."""
        self._put_off(uri)
        self.publish(types.PublishDiagnosticsParams(uri, []))

    def _put_off(self, uri: str) -> None:
        if uri in self._waiting:
            self._waiting.pop(uri).cancel()

    def _begin(self, uri: str) -> None:
        task = asyncio.ensure_future(self._run(uri))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _run(self, uri: str) -> None:
        document = self.session.document(uri)
        try:
            async with self._one:
                if self.session.document(uri) is document:  # otherwise there is a newer text
                    await self._check(uri)
        except Exception:
            log.exception("a check failed; this is a bug in bayesnas-graph")

    async def _check(self, uri: str) -> None:
        """Check a document. If networks take long, what is wrong with the text is shown before they are done."""
        check = asyncio.ensure_future(asyncio.to_thread(self.session.check, uri))
        done, _ = await asyncio.wait([check], timeout=PATIENCE)
        if not done and uri in self.session:
            reading = await asyncio.to_thread(self.session.reading, uri)
            if not check.done():
                self._show(reading, reading.diagnostics())
        found = await check
        if found is not None:
            self._show(*found)

    def _show(self, reading: Reading, diagnostics: tuple[Diagnostic, ...]) -> None:
        document = reading.document
        if self.session.document(document.uri) is document:  # otherwise there is a newer text
            shown = problems(reading, diagnostics)
            self.publish(types.PublishDiagnosticsParams(document.uri, shown, document.version))
