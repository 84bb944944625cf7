"""Weights in a file, as safetensors: nothing in it is ever executed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor, nn

from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.diagnostics.atomic_files import FREE_SPACE, atomic_write, read_error
from bayesnas_graph.ir import shape_text
from bayesnas_graph.train.learner import State

SHOWN = 3  # names of tensors in a message


def write_weights(path: Path, weights: Mapping[str, Tensor], fingerprint: str) -> None:
    """Write the weights of a network with this fingerprint. Raises NasError if there is no room."""
    held = {name: value.detach().cpu().contiguous().clone() for name, value in weights.items()}  # none may share memory
    content = save(held, {"fingerprint": fingerprint})  # more words would come in any order
    with atomic_write(path, FREE_SPACE) as file:
        file.write(content)


def read_weights(path: Path) -> State:
    """The weights in a file. Raises NasError if it is none."""
    try:
        return load(path.read_bytes())
    except OSError as error:
        raise read_error(path, error) from None
    except SafetensorError:
        help = "name a file that ends in `.safetensors`, such as `weights.safetensors` of a training"
        raise NasError([Diagnostic("NAS611", f"`{path}` holds no weights, or is damaged", help=help)]) from None


def take_weights(network: nn.Module, weights: Mapping[str, Tensor], path: Path, name: str) -> None:
    """Give a network weights that were read from a file. Raises NasError unless they are exactly those that it has."""
    own = network.state_dict()
    problems = [
        *_listed("are missing", own.keys() - weights.keys()),
        *_listed("are not in the network", weights.keys() - own.keys()),
        *_listed("have another shape", (_shapes(key, weights, own) for key in own.keys() & weights.keys())),
    ]
    if problems:
        message = f"the weights in `{path}` do not fit network `{name}`: {'; '.join(problems)}"
        help = "name the file, the `--network` and the values of parameters (`-p`) that the weights were trained with"
        raise NasError([Diagnostic("NAS611", message, help=help)])
    network.load_state_dict(dict(weights))


def bytes_of(weights: Mapping[str, Tensor]) -> int:
    """How much memory weights take."""
    return sum(value.numel() * value.element_size() for value in weights.values())


def _listed(what: str, names: Iterable[str]) -> list[str]:
    """How many there are of something, and the first few; nothing if there are none.

    >>> _listed("are missing", ["d", "a", "b", "c"])
    ['4 are missing (`a`, `b`, `c`, ...)']
    """
    found = sorted(name for name in names if name)
    shown = [f"`{name}`" for name in found[:SHOWN]] + ["..."] * (len(found) > SHOWN)
    return [f"{len(found):,} {what} ({', '.join(shown)})"] if found else []


def _shapes(key: str, given: Mapping[str, Tensor], own: Mapping[str, Tensor]) -> str:
    """A tensor whose shapes differ, with both of them; empty if they do not."""
    mine, theirs = own[key].shape, given[key].shape
    return "" if mine == theirs else f"{key}: {shape_text(theirs)} for {shape_text(mine)}"
