"""The program as a process: streams, signals, start-up."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from bayesnas_graph.cli.main import VERBS
from tests.conftest import ROOT

PROGRAM = [sys.executable, "-m", "bayesnas_graph"]


def test_text_is_handled_without_torch(tmp_path: Path) -> None:
    """Commands that only read text load neither torch nor the graph library."""
    script = (
        "import sys\n"
        "from bayesnas_graph.cli.main import app\n"
        "for arguments in (['check', 'darts'], ['fmt', '--check', 'darts'], ['explain'], ['ops'], ['spaces'], "
        "['new', 'x']):\n"
        "    try: app(arguments)\n"
        "    except SystemExit as e: assert not e.code, arguments\n"
        "    assert 'torch' not in sys.modules, arguments\n"
        "    if arguments[0] != 'spaces': assert 'networkx' not in sys.modules, arguments\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, cwd=tmp_path, stdout=subprocess.DEVNULL)


@pytest.mark.parametrize(
    ("calls", "unwanted"),
    [
        ([["--help"], ["check", "darts"]], ("torch", "numpy", "networkx", "bayesnas_graph.report")),
        ([[verb, "--help"] for verbs in VERBS.values() for verb in verbs], ("torch", "numpy")),
    ],
)
def test_help_and_check_load_only_what_they_need(calls: list[list[str]], unwanted: tuple[str, ...]) -> None:
    script = (
        "import sys\n"
        "from bayesnas_graph.cli.main import app\n"
        f"for arguments in {calls}:\n"
        "    try: app(arguments)\n"
        "    except SystemExit as e: assert not e.code, arguments\n"
        f"    loaded = [name for name in sys.modules if name.startswith({unwanted})]\n"
        "    assert not loaded, (arguments, loaded)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, stdout=subprocess.DEVNULL)


def test_version_loads_almost_nothing() -> None:
    script = (
        "import sys\n"
        "from bayesnas_graph.cli.main import app\n"
        "try: app(['--version'])\n"
        "except SystemExit as e: assert not e.code\n"
        "for name in ('torch', 'numpy', 'networkx', 'lark', 'pydantic', 'rich'): assert name not in sys.modules, name\n"
        "try: app(['--help'])\n"
        "except SystemExit as e: assert not e.code\n"
        "for name in ('torch', 'numpy', 'networkx', 'lark', 'pydantic'): assert name not in sys.modules, name\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, stdout=subprocess.DEVNULL)


@pytest.mark.parametrize(
    ("arguments", "first"),
    [
        (["quickstart"], "settings from quickstart.toml\ndata           digits (from quickstart.toml)"),
        (
            ["quickstart", "--display", "plain"],
            "settings from quickstart.toml\ndata           digits (from quickstart.toml)",
        ),
        (["quickstart", "--recipe", "none", "--data", "digits"], "searching quickstart"),
    ],
)
@pytest.mark.parametrize("terminal", [False, True])
def test_a_search_says_something_before_torch_is_loaded(
    tmp_path: Path, arguments: list[str], first: str, terminal: bool
) -> None:
    """The import of torch fails here, so whatever was printed was printed before it."""
    command = without_torch("search", *arguments)
    if not terminal:
        result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert (result.returncode, result.stdout, result.stderr) == (99, f"{first}\n", "")
        return
    outer, inner = pty.openpty()
    environment = {**os.environ, "TERM": "xterm"}
    assert subprocess.run(command, cwd=tmp_path, stdout=inner, stderr=inner, env=environment).returncode == 99
    os.close(inner)
    shown = os.read(outer, 65536).decode()
    lines = first.split("\n")
    assert shown.splitlines()[: len(lines)] == lines
    assert "loading torch ..." in shown
    os.close(outer)


def without_torch(*arguments: str) -> list[str]:
    """A command in which the import of torch ends the process with code 99."""
    script = (
        "import sys\n"
        "class NoTorch:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'torch': raise SystemExit(99)\n"
        "sys.meta_path.insert(0, NoTorch())\n"
        "from bayesnas_graph.cli.main import app\n"
        f"app({list(arguments)})\n"
    )
    return [sys.executable, "-c", script]


@pytest.mark.parametrize(
    "arguments",
    [
        ["train", "lenet5", "--data", "digits"],
        ["compress", "lenet5", "--data", "digits"],
        ["eval", "lenet5"],
        ["derive", "nasbench201", "--keep", "x"],
        ["export", "lenet5"],
        ["data", "list"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_terminal_is_told_that_torch_is_loaded(arguments: list[str], tmp_path: Path) -> None:
    """The import of torch fails here, so the line was printed before it, and removed after it."""
    outer, inner = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "NO_COLOR": "1"}
    ended = subprocess.run(without_torch(*arguments), cwd=tmp_path, stdout=inner, stderr=inner, env=environment)
    os.close(inner)
    assert (ended.returncode, os.read(outer, 65536)) == (99, b"loading torch ...\r\033[K")
    os.close(outer)


def test_color_on_a_terminal_and_plain_in_a_pipe(tmp_path: Path) -> None:
    (tmp_path / "bad.nas").write_text("let a = b\n")
    piped = subprocess.run([*PROGRAM, "check", "bad.nas"], cwd=tmp_path, capture_output=True, text=True)
    assert "\033[" not in piped.stderr
    outer, inner = pty.openpty()
    environment = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")} | {"TERM": "xterm"}
    subprocess.run([*PROGRAM, "check", "bad.nas"], cwd=tmp_path, stderr=inner, stdout=inner, env=environment)
    os.close(inner)
    assert b"\033[1;31merror[NAS101]" in os.read(outer, 65536)
    os.close(outer)


def test_interrupt() -> None:
    heed = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # which a shell in the background has turned off
    process = subprocess.Popen(
        [*PROGRAM, "check", "-"], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=heed
    )
    assert process.stdin is not None
    # It is ready once it has read more than a pipe can hold.
    process.stdin.write("// " + "x" * 1_000_000 + "\n")
    process.stdin.flush()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate()
    assert process.returncode == 130
    assert "Traceback" not in errors


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_full_disk() -> None:
    with Path("/dev/full").open("w") as full:
        result = subprocess.run([*PROGRAM, "ops"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert result.returncode == 1
    assert "Traceback" not in result.stderr
    assert "No space left" in result.stderr


def test_closed_pipe() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    result = subprocess.run([*PROGRAM, "ops"], stdout=writing, stderr=subprocess.PIPE, text=True)
    os.close(writing)
    assert "Traceback" not in result.stderr
    assert "Exception" not in result.stderr


def test_discarded_output_leaves_no_file_open() -> None:
    script = (
        "import os\n"
        "from bayesnas_graph.cli.console import discard_output, say\n"
        "before = os.listdir('/dev/fd')\n"
        "for _ in range(3): discard_output()\n"
        "say('discarded')\n"
        "assert os.listdir('/dev/fd') == before\n"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_console_script_and_module_are_the_same() -> None:
    script = Path(sys.executable).parent / "bayesnas-graph"
    outputs = {subprocess.run([*command, "--version"], capture_output=True).stdout for command in (PROGRAM, [script])}
    assert len(outputs) == 1


def test_grammar_is_found_from_anywhere(tmp_path: Path) -> None:
    result = subprocess.run([*PROGRAM, "check", ROOT / "spaces" / "darts.nas"], cwd=tmp_path, capture_output=True)
    assert result.returncode == 0


def test_assertions_do_no_work() -> None:
    """`python -O` removes assertions; nothing else may change."""
    outputs = [
        subprocess.run([sys.executable, *flags, "-m", "bayesnas_graph", "check", "darts"], capture_output=True).stdout
        for flags in ([], ["-O"])
    ]
    assert outputs[0] == outputs[1]
    assert b"network search" in outputs[0]


@pytest.mark.parametrize(
    ("given", "expected"),
    [({}, "PASSIVE"), ({"OMP_WAIT_POLICY": "ACTIVE"}, "ACTIVE"), ({"GOMP_SPINCOUNT": "9"}, None)],
)
def test_threads_sleep_unless_the_user_says_otherwise(given: dict[str, str], expected: str | None) -> None:
    script = (
        "import os, sys\n"
        "from bayesnas_graph.cli.main import main\n"
        "assert 'torch' not in sys.modules\n"
        "sys.argv[1:] = ['--version']\n"
        "try: main()\n"
        "except SystemExit: print(os.environ.get('OMP_WAIT_POLICY'))\n"
    )
    names = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME")
    environment = {name: value for name, value in os.environ.items() if name not in names} | given
    call = subprocess.run([sys.executable, "-c", script], check=True, env=environment, capture_output=True, text=True)
    assert call.stdout.split()[-1] == str(expected)
