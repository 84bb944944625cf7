"""Datasets of Hugging Face by name: `hf:NAME`. They are read from this machine; only `data get` downloads them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from torch import Tensor

from bayesnas_graph.data.address import Address, parse_address
from bayesnas_graph.data.checked import error_text, reject
from bayesnas_graph.data.content import Part
from bayesnas_graph.data.folder import MODES, decode_image, read_image
from bayesnas_graph.data.hugging_face import Columns, HuggingFaceRows, splits_of
from bayesnas_graph.data.model import Data, Shape
from bayesnas_graph.data.pair import data_of_parts
from bayesnas_graph.data.part import GivenPart, mapped_part
from bayesnas_graph.diagnostics import Diagnostic, NasError
from bayesnas_graph.diagnostics.packages import check_packages

CHOICES = ("image", "label", "train", "test")  # columns and splits
OPTIONS = (*CHOICES, "config")


def load_hugging_face(spec: str, shape: Shape | None) -> Data:
    """Load a dataset from a folder or from the cache of `datasets`, with images resized to a shape. Raises NasError."""
    address = _address(spec)
    with _offline():
        try:
            found = _load(address)
        except (ConnectionError, FileNotFoundError):
            message = f"`{address.place}` is neither a folder nor in the cache of `datasets`"
            help = f"download it with `bayesnas-graph data get '{spec}'`"
            raise NasError([Diagnostic("NAS502", message, help=help)]) from None
        except Exception as error:  # of any type, depending on the format
            reject(spec, f"cannot be loaded: {error_text(error)}", "check the name, and how the files were written")
    if not isinstance(found, Mapping):
        reject(spec, "has no splits", "save a `DatasetDict` with a split for training and one for testing")
    wanted = Columns(**{name: unquote(address.options[name]) for name in CHOICES if name in address.options})
    train, test = splits_of(found, spec, wanted)
    training, testing = _part(train, spec, "training", wanted, shape), _part(test, spec, "testing", wanted, shape)
    return data_of_parts(training, testing, spec)


def download_hugging_face(spec: str) -> str:
    """Download a dataset into the cache of `datasets`. Return its name. Raises NasError."""
    address = _address(spec)
    try:
        _load(address)
    except Exception as error:  # of any type, depending on the format
        message = f"cannot download `{address.place}`: {error_text(error)}"
        raise NasError([Diagnostic("NAS506", message, help="check the connection, and the name")]) from None
    return address.place


def _address(spec: str) -> Address:
    address = parse_address(spec, OPTIONS)
    check_packages("datasets", "data of Hugging Face need", "NAS507")
    return address


def _load(address: Address) -> Any:
    datasets: Any = import_module("datasets")
    path = address.path
    if (path / "dataset_dict.json").is_file() or (path / "dataset_info.json").is_file():  # written by `save_to_disk`
        return datasets.load_from_disk(str(path))
    return datasets.load_dataset(str(path) if path.exists() else address.place, address.options.get("config"))


@contextmanager
def _offline() -> Iterator[None]:
    """Let `datasets` connect to nothing, and say nothing, while it loads what is here."""
    modules: list[Any] = [import_module("datasets.config"), import_module("huggingface_hub.constants")]
    utils: Any = import_module("datasets.utils")
    were_offline, had_bars = [module.HF_HUB_OFFLINE for module in modules], utils.is_progress_bar_enabled()
    verbosity = utils.logging.get_verbosity()
    utils.disable_progress_bars()
    utils.logging.set_verbosity_error()
    for module in modules:
        module.HF_HUB_OFFLINE = True
    try:
        yield
    finally:
        for module, was_offline in zip(modules, were_offline, strict=True):
            module.HF_HUB_OFFLINE = was_offline
        utils.logging.set_verbosity(verbosity)
        if had_bars:
            utils.enable_progress_bars()


def _part(dataset: Any, spec: str, part: Part, wanted: Columns, shape: Shape | None) -> GivenPart:
    rows = HuggingFaceRows.of(dataset, spec, wanted)
    if rows.is_of_image_files:  # Pillow would open formats that run other programs
        plain = rows.dataset.cast_column(rows.image, import_module("datasets").Image(decode=False))
        rows = replace(rows, dataset=plain, change=_ImageFile(spec, shape))
    return mapped_part(rows, rows.classes, spec, part, "Hugging Face")


@dataclass(frozen=True)
class _ImageFile:
    """Reads an image, which is the content of a file or a path."""

    spec: str
    shape: Shape | None  # of the input of the network

    def __call__(self, image: Mapping[str, Any]) -> Tensor:
        fits = self.shape is not None and len(self.shape) == 3 and self.shape[0] in MODES
        shape = self.shape if fits else None
        if image["bytes"] is None:
            return read_image(Path(image["path"]), shape)
        return decode_image(image["bytes"], f"an image of `{self.spec}`", shape)
