"""Files of weights, as safetensors: reading them never executes code."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor, nn

from bayesnas_graph.codegen.emit import build_for_weights, by_node, emit
from bayesnas_graph.codegen.emit.weights import ByNode
from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.diagnostics.atomic_files import FREE_SPACE, atomic_write, read_error
from bayesnas_graph.diagnostics.checksums import FIELD, Changed, digest
from bayesnas_graph.diagnostics.reading import parse_json, read_file
from bayesnas_graph.ir import shape_text
from bayesnas_graph.language.elaborate import Network

SHOWN = 3  # names of tensors in a message


def weights_file(weights: Mapping[str, Tensor], fingerprint: str) -> bytes:
    """Return the content of a file with the weights of a network with this fingerprint."""
    # Tensors must not share memory.
    tensors = {name: value.detach().cpu().contiguous().clone() for name, value in weights.items()}
    head, data = _split(save(tensors))
    metadata = {"fingerprint": fingerprint}
    metadata[FIELD] = _digest_of(head, metadata, data)
    text = json.dumps({"__metadata__": metadata, **head}, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # tensors are aligned
    return b"".join((len(text).to_bytes(8, "little"), text, data))


def write_weights(path: Path, weights: Mapping[str, Tensor], fingerprint: str) -> None:
    """Write a file of a run: the weights of a network with this fingerprint. Raises NasError if the disk is full."""
    with atomic_write(path, FREE_SPACE) as file:
        file.write(weights_file(weights, fingerprint))


def read_weights(path: Path) -> dict[str, Tensor]:
    """Read a file of weights. Raises NasError if it is not one, or if it has changed since it was written."""
    try:
        content = read_file(path)
        tensors = load(content)
        _check(content)
    except OSError as error:
        raise read_error(path, error) from None
    except Changed as error:
        help = "restore it, or resume the run that wrote it"
        raise NasError([Diagnostic("NAS611", f"cannot use `{path}`: {error}", help=help)]) from None
    except (SafetensorError, ValueError, KeyError, TypeError, AttributeError):
        help = "use a safetensors file, such as `weights.safetensors` of a training run"
        raise NasError([Diagnostic("NAS611", f"`{path}` is not a weights file, or is damaged", help=help)]) from None
    return tensors


def _check(content: bytes) -> None:
    """Raise Changed if a file of weights has another checksum than it says. Files of other programs have none."""
    head, data = _split(content)
    metadata = dict(head.pop("__metadata__", {}))
    expected = metadata.pop(FIELD, None)
    if expected is not None and expected != _digest_of(head, metadata, data):
        raise Changed


def _split(content: bytes) -> tuple[dict[str, Any], memoryview]:
    """Return the header of a safetensors file and the bytes of its tensors."""
    start = 8 + int.from_bytes(content[:8], "little")
    return parse_json(content[8:start]), memoryview(content)[start:]


def _digest_of(head: Mapping[str, Any], metadata: Mapping[str, str], data: memoryview) -> str:
    """Return the checksum of everything in a file of weights but the checksum itself."""
    about = json.dumps([head, metadata], sort_keys=True).encode()
    return digest(f"{digest(about)} {digest(data)}".encode())


def take_weights(network: nn.Module, weights: Mapping[str, Tensor], path: Path, name: str) -> None:
    """Load weights that were read from a file into a network. Raises NasError unless they fit exactly."""
    expected = network.state_dict()
    problems = [
        *_listed("are missing", expected.keys() - weights.keys()),
        *_listed("are not in the network", weights.keys() - expected.keys()),
        *_listed(
            "have a different shape", (_shapes(key, weights, expected) for key in expected.keys() & weights.keys())
        ),
    ]
    if problems:
        message = f"the weights in `{path}` do not fit network `{name}`: {'; '.join(problems)}"
        help = "use the file, `--network` and parameters (`-p`) that the weights were trained with"
        raise NasError([Diagnostic("NAS611", message, help=help)])
    network.load_state_dict(dict(weights))


def weights_by_node(network: Network, path: Path) -> ByNode:
    """Read the weights of a network from a file, by node. Raises NasError unless they fit exactly."""
    program = emit(network.graph(), standalone=True)
    module = build_for_weights(program)
    take_weights(module, read_weights(path), path, network.name)
    return by_node(module.state_dict(), program)


def bytes_of(weights: Mapping[str, Tensor]) -> int:
    """Return the memory that weights take."""
    return sum(value.numel() * value.element_size() for value in weights.values())


def _listed(what: str, names: Iterable[str]) -> list[str]:
    """Return how many names there are, with the first few; an empty list if there are none.

    >>> _listed("are missing", ["d", "a", "b", "c"])
    ['4 are missing (`a`, `b`, `c`, ...)']
    """
    present = sorted(name for name in names if name)
    shown = [f"`{name}`" for name in present[:SHOWN]] + ["..."] * (len(present) > SHOWN)
    return [f"{len(present):,} {what} ({', '.join(shown)})"] if present else []


def _shapes(key: str, loaded: Mapping[str, Tensor], expected: Mapping[str, Tensor]) -> str:
    """Return the name and both shapes of a tensor whose shapes differ; an empty text if they agree."""
    mine, theirs = expected[key].shape, loaded[key].shape
    return "" if mine == theirs else f"{key}: {shape_text(theirs)} for {shape_text(mine)}"
