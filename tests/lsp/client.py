"""A small client of the protocol: it starts the server as an editor does and speaks JSON with it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any

from tests.conftest import ROOT

PATIENCE = 120  # seconds; only a server that hangs takes that long


class Client:
    """A server in a process of its own."""

    def __init__(self, folder: Path, **general: Any) -> None:
        command = [sys.executable, "-m", "bayesnas_graph", "lsp"]
        self.errors = (folder / "errors.txt").open("wb")
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, cwd=ROOT
        )
        self.messages: Queue[dict[str, Any]] = Queue()
        self.notices: list[dict[str, Any]] = []
        self.last = 0
        Thread(target=self._listen, daemon=True).start()
        folders = [{"uri": folder.as_uri(), "name": "folder"}]
        capabilities = {"general": general, "workspace": {"workspaceFolders": True}}
        self.server = self.request(
            "initialize", processId=None, rootUri=folder.as_uri(), workspaceFolders=folders, capabilities=capabilities
        )["result"]
        self.notify("initialized")

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.errors):
            with suppress(OSError):
                stream and stream.close()

    def request(self, method: str, **params: Any) -> dict[str, Any]:
        """Ask, and wait for the answer: the whole message, with `result` or `error`."""
        self.last += 1
        self._send({"id": self.last, "method": method, **({"params": params} if params else {})})
        while (message := self.messages.get(timeout=PATIENCE)).get("id") != self.last:
            self.notices.append(message)
        return message

    def notify(self, method: str, **params: Any) -> None:
        self._send({"method": method, "params": params})

    def stop(self) -> int:
        """Shut the server down, and return its exit code."""
        assert self.request("shutdown")["result"] is None
        self._send({"method": "exit"})
        return self.process.wait()

    def open(self, uri: str, text: str) -> None:
        document = {"uri": uri, "languageId": "nas", "version": 1, "text": text}
        self.notify("textDocument/didOpen", textDocument=document)

    def change(self, uri: str, version: int, text: str) -> None:
        document = {"uri": uri, "version": version}
        self.notify("textDocument/didChange", textDocument=document, contentChanges=[{"text": text}])

    def about(self, method: str, uri: str, line: int, character: int, **more: Any) -> Any:
        """Ask about a position; return the result."""
        position = {"line": line, "character": character}
        answer = self.request(f"textDocument/{method}", textDocument={"uri": uri}, position=position, **more)
        return answer.get("result", answer.get("error"))

    def problems(self, uri: str, version: int, codes: Sequence[str]) -> list[dict[str, Any]]:
        """Wait until these are the codes of the problems in a version of a document, and return the problems.

        They may be shown twice: before and after the networks are checked.
        """
        while True:
            while self.notices:
                notice = self.notices.pop(0)
                params = notice.get("params", {})
                is_about = notice.get("method") == "textDocument/publishDiagnostics" and params["uri"] == uri
                if is_about and params.get("version") == version:
                    found: list[dict[str, Any]] = params["diagnostics"]
                    if [problem["code"] for problem in found] == list(codes):
                        return found
            self.notices.append(self.messages.get(timeout=PATIENCE))

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def _listen(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        while line := stream.readline():
            length = int(line.split(b":")[1])
            while line.strip():
                line = stream.readline()
            self.messages.put(json.loads(stream.read(length)))
