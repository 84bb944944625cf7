"""Scenes for the pages in docs/errors: files, runs and machines on which the commands of a page fail as it shows.

A page whose error no command can cause has no command. `raised` causes its diagnostic through the code.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from email.message import Message
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn
from urllib.error import HTTPError

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from bayesnas_graph import api, passes
from bayesnas_graph.cli.main import main
from bayesnas_graph.codegen.emit import memory
from bayesnas_graph.codegen.export.formats import write_onnx, write_torchscript
from bayesnas_graph.data import stream
from bayesnas_graph.derive.derived import derive, given
from bayesnas_graph.diagnostics import NasError, render
from bayesnas_graph.diagnostics.plugins import DATA_PLUGINS, Plugin, load_plugin
from bayesnas_graph.runs import device
from tests.codegen.export.test_formats import Bessel
from tests.data.files import write_mnist
from tests.helpers import body, graph
from tests.train.compress.small import SMALL

Patch = pytest.MonkeyPatch

# Both candidates have the same size, so the size of the result does not depend on what a search finds.
SEARCHED = """
network net(width = 8) : image(1, 8, 8) -> classes(10) {
    in x
    node h = x : conv(width) > choose 1 { conv(width), conv(width, dilation = 2) }
    h -> out : global_avg_pool > linear(10)
}
"""
SEARCH = (
    *("search", "example.nas", "--data", "digits", "-o", "runs/example-1"),
    *("--iterations", "2", "--steps", "4", "--warmup", "2", "--lambda", "1"),
    *("-s", "finish=0", "-s", "checkpoint_steps=4", "-s", "threads=1"),
)


def program(words: list[str], folder: Path) -> str:
    """Run a command in this process. Return its messages, or its output if there are none."""
    output, messages = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(output), redirect_stderr(messages):
        patch.chdir(folder)
        patch.setattr(sys, "argv", words)
        with pytest.raises(SystemExit):
            main()
    return (messages.getvalue() or output.getvalue()).rstrip("\n") + "\n"


def prepare(code: str, folder: Path, patch: Patch) -> None:
    """Prepare a folder, and this process, for the commands of a page."""
    if code in _SCENES:
        _SCENES[code](folder, patch)


def raised(code: str, folder: Path, patch: Patch) -> str:
    """Return the diagnostic of a page without a command."""
    patch.chdir(folder)
    with pytest.raises(NasError) as error:
        _CAUSES[code](patch)
    return "".join(map(render, error.value.diagnostics))


# ---------------------------------------------------------------------------------------- files and machines


def _existing_file(folder: Path, _: Patch) -> None:
    (folder / "net.nas").touch()


def _large_file(folder: Path, _: Patch) -> None:
    with (folder / "weights.nas").open("wb") as file:
        file.truncate(2**24 + 1)


def _short_images(folder: Path, _: Patch) -> None:
    write_mnist(folder / "data" / "mnist", train=1, test=1)
    with (folder / "data" / "mnist" / "train-images-idx3-ubyte").open("r+b") as file:
        file.seek(4)
        file.write((60_000).to_bytes(4, "big"))  # the number of images
        file.truncate(2**20)


def _flags(patch: Patch, train: object, test: object) -> None:
    """A module with a function that returns data."""
    flags: Any = ModuleType("flags")
    flags.make = lambda: (train, test)
    patch.setitem(sys.modules, "flags", flags)


def _named_labels(_: Path, patch: Patch) -> None:
    _flags(patch, *([(torch.zeros(1, 8, 8), "cat")],) * 2)


def _blank_images(_: Path, patch: Patch) -> None:
    _flags(patch, *([(torch.zeros(1, 28, 28), i % 10) for i in range(20)],) * 2)


def _missing_class(_: Path, patch: Patch) -> None:
    images = [(torch.full((1, 8, 8), i / 30), i % 3) for i in range(30)]
    _flags(patch, images, [(image, label) for image, label in images if label < 2])


def _empty_server(_: Path, patch: Patch) -> None:
    def refuse(request: Any) -> NoReturn:
        raise HTTPError(request.full_url, 404, "Not Found", Message(), None)

    patch.setattr(stream, "open_url", refuse)


def _no_scikit_learn(_: Path, patch: Patch) -> None:
    patch.setitem(sys.modules, "sklearn", None)


def _only_a_cpu(_: Path, patch: Patch) -> None:
    patch.setattr(torch.cuda, "is_available", lambda: False)
    patch.setattr(device, "_has_mps", lambda: False)


def _other_weights(folder: Path, _: Patch) -> None:
    tensors = {
        "linear.weight": torch.zeros(10, 8),
        "linear.bias": torch.zeros(10),
        "conv.weight": torch.zeros(8, 1, 3, 3),
    }
    save_file(tensors, folder / "other.safetensors")


def _small_network(folder: Path, _: Patch) -> None:
    (folder / "small.nas").write_text(SMALL)


def _misspelt_genotype(folder: Path, _: Patch) -> None:
    cell = "[('sep_conv3x3', 0), ('sep_conv_3x3', 1)" + ", ('skip_connect', 0), ('skip_connect', 1)" * 3 + "]"
    text = f"Genotype(normal={cell}, normal_concat=[2, 3, 4, 5], reduce={cell}, reduce_concat=[2, 3, 4, 5])"
    (folder / "genotype.txt").write_text(text)


# ---------------------------------------------------------------------------------------- runs


def _space(folder: Path, _: Patch) -> None:
    (folder / "example.nas").write_text(SEARCHED)


def _limited_space(folder: Path, _: Patch) -> None:
    (folder / "example.nas").write_text(SEARCHED.replace("    in x\n", "    in x\n    require params < 100\n"))


def _existing_folder(folder: Path, patch: Patch) -> None:
    _space(folder, patch)
    (folder / "runs" / "example-1").mkdir(parents=True)
    (folder / "runs" / "example-1" / "run.json").touch()


def _searched(folder: Path, patch: Patch) -> None:
    _space(folder, patch)
    program(["bayesnas-graph", *SEARCH], folder)
    assert (folder / "runs" / "example-1" / "result.json").exists()


def _searched_on_objects(folder: Path, patch: Patch) -> None:
    _space(folder, patch)
    part = (torch.rand(20, 1, 8, 8), torch.arange(20) % 10)
    how: dict[str, Any] = {"iterations": 1, "steps": 1, "warmup": 0, "finish": 0, "batch": 8, "threads": 1}
    api.search(folder / "example.nas", data=(part, part), output=folder / "runs" / "example-1", **how)


def _damaged_checkpoint(folder: Path, patch: Patch) -> None:
    _searched(folder, patch)
    for path in (folder / "runs" / "example-1" / "checkpoints").iterdir():
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(content)


def _broken_weights(folder: Path, _: Patch) -> None:
    text = "network net : image(1, 8, 8) -> classes(10) { in x  x -> out : conv(8) > global_avg_pool > linear(10) }"
    (folder / "example.nas").write_text(text)
    shapes = {"conv.weight": (8, 1, 3, 3), "linear.weight": (10, 8), "linear.bias": (10,)}
    tensors = {name: torch.zeros(shape) for name, shape in shapes.items()}
    for name in ("conv.weight", "linear.bias"):
        tensors[name][0] = torch.nan
    save_file(tensors, folder / "broken.safetensors")


def _small_machine(_: Path, patch: Patch) -> None:
    patch.setattr(memory, "available_memory", lambda: 2**34)


_SCENES: dict[str, Callable[[Path, Patch], None]] = {
    "NAS012": _existing_file,
    "NAS406": _large_file,
    "NAS407": _small_machine,
    "NAS503": _short_images,
    "NAS505": _named_labels,
    "NAS506": _empty_server,
    "NAS507": _no_scikit_learn,
    "NAS508": _blank_images,
    "NAS509": _missing_class,
    "NAS510": _searched_on_objects,
    "NAS602": _existing_folder,
    "NAS603": _damaged_checkpoint,
    "NAS604": _searched,
    "NAS605": _space,
    "NAS607": _space,
    "NAS608": _limited_space,
    "NAS609": _only_a_cpu,
    "NAS611": _other_weights,
    "NAS614": _searched,
    "NAS615": _searched,
    "NAS616": _searched,
    "NAS620": _small_network,
    "NAS621": _small_network,
    "NAS622": _broken_weights,
    "NAS702": _misspelt_genotype,
}


# ---------------------------------------------------------------------------------------- without a command


def _narrower_sum(_: Patch) -> None:
    """A concatenation that lost an input is added to a value of full width."""
    statements = "node c : concat x -> c : optional tanh x -> c : relu node w = x : conv(6) c -> out w -> out"
    space = passes.run(graph(body(statements, "image(3, 8, 8) -> image(6, 8, 8)")), passes.SWITCHES)
    derive(space, given(space, ()))


def _wrong_file(patch: Patch) -> None:
    """The exporter writes another network."""
    trace: Any = torch.jit.trace
    scale = nn.Linear(3, 3, bias=False)
    nn.init.constant_(scale.weight, 0.75)
    patch.setattr(torch.jit, "trace", lambda _, *rest, **options: trace(scale, *rest, **options))
    network = nn.Linear(3, 3, bias=False)
    nn.init.constant_(network.weight, 1.0)
    write_torchscript(network, (3,), Path("net.pt"))


def _unknown_to_onnx(_: Patch) -> None:
    write_onnx(Bessel(), (2, 3), Path("net.onnx"))


def _uninstalled_module(_: Patch) -> None:
    """Only the entry points of a package are left."""
    load_plugin(Plugin(DATA_PLUGINS, "stripes", "signs:stripes", "signs 1.0"))


_CAUSES: dict[str, Callable[[Patch], None]] = {
    "NAS613": _narrower_sum,
    "NAS617": _wrong_file,
    "NAS618": _unknown_to_onnx,
    "NAS803": _uninstalled_module,
}
