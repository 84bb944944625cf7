"""Start the program many times but load torch once: fork a process for every run.

One process forks for all tests of a session. Each run works in the folder of the tests that asked for it.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, NoReturn

from tests.conftest import ROOT


@dataclass
class Run:
    """The running program. Its output on both streams is read line by line."""

    pid: int
    lines: IO[str]
    _launcher: Launcher
    printed: list[str] = field(default_factory=list)

    def until(self, seen: Callable[[str], bool]) -> str | None:
        """Wait for a line; None if the program ends first."""
        for line in self.lines:
            self.printed.append(line)
            if seen(line):
                return line
        return None

    def signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def ended(self) -> tuple[int, str]:
        """The exit code, or the negative signal number, and the output."""
        self.until(lambda _: False)
        self.lines.close()
        return int(self._launcher.ask(wait=self.pid)), "".join(self.printed)


@dataclass
class Launcher:
    """The process that forks, for runs in one folder."""

    process: subprocess.Popen[str]
    folder: Path
    runs: int = 0

    def start(self, *arguments: object, largest_file: int | None = None, **environment: object) -> Run:
        """Start the program in the folder. `largest_file` limits the file size, to simulate a full disk."""
        self.runs += 1
        pipe = self.folder / f".output-{self.runs}"
        os.mkfifo(pipe)
        variables = {name: str(value) for name, value in environment.items()}
        pid = self.ask(
            arguments=[*map(str, arguments)],
            folder=str(self.folder),
            pipe=str(pipe),
            largest=largest_file,
            environment=variables,
        )
        return Run(int(pid), pipe.open(), self)

    def run(self, *arguments: object, largest_file: int | None = None) -> tuple[int, str]:
        """Run the program to completion."""
        return self.start(*arguments, largest_file=largest_file).ended()

    def start_together(self, *arguments: object, processes: int = 2) -> list[Run]:
        """Start it as distributed processes, as `torchrun` does."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        meeting = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "WORLD_SIZE": processes}
        return [self.start(*arguments, RANK=rank, LOCAL_RANK=rank, **meeting) for rank in range(processes)]

    def ask(self, **question: Any) -> str:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline()


@contextmanager
def forking() -> Iterator[subprocess.Popen[str]]:
    """The process that forks."""
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "tests.search.launcher"]
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process
        process.kill()  # it has nothing to lose


def serve() -> None:
    """Fork on request, and report how a run ended on request."""
    import torch._dynamo  # noqa: F401  which an optimiser loads, and no run should have to

    from tests.search.spaces import problem

    problem()  # so that the data are there, and the grammar is read
    gc.collect()
    gc.freeze()  # what is loaded stays: no run has to look through it, or to copy it

    for line in sys.stdin:
        question = json.loads(line)
        if "wait" in question:
            answer = os.waitstatus_to_exitcode(os.waitpid(question["wait"], 0)[1])
        else:
            answer = os.fork()
            if not answer:
                _be_the_program(**question)
        print(answer, flush=True)


def _be_the_program(
    arguments: list[str], folder: str, pipe: str, largest: int | None, environment: dict[str, str]
) -> NoReturn:
    from bayesnas_graph.cli.main import main

    os.environ |= environment
    os.chdir(folder)
    sys.path[0] = folder
    out = os.open(pipe, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(out, stream)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.close(out)
    sys.stdout, sys.stderr = (os.fdopen(stream, "w", 1, closefd=False) for stream in (1, 2))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # which `nohup` has turned off
    if largest is not None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # so that writing fails, and the program does not
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))
    sys.argv = ["bayesnas-graph", *arguments]
    code: Any = 1
    try:
        main()
    except SystemExit as exit:
        code = exit.code or 0
    finally:
        with suppress(OSError):
            sys.stdout.flush()
        os._exit(code)


if __name__ == "__main__":
    serve()
