"""Tables in CSV and Parquet files."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import torch

from bayesnas_graph import api
from bayesnas_graph.data import Data, InMemory, csv_table, load, parquet_table
from bayesnas_graph.data.labels import classes_of, rows_for_testing
from bayesnas_graph.diagnostics import NasError
from tests.data.files import problem

has_pyarrow = pytest.mark.skipif(find_spec("pyarrow") is None, reason="pyarrow is not installed")
KINDS = ["cat", "dog", "ant"]


def rows(count: int = 30) -> list[tuple[float, int, str]]:
    return [(i / 8, i * i, KINDS[i % 3]) for i in range(count)]


def csv_file(folder: Path, text: str | None = None) -> str:
    """Write a table, and return its address."""
    lines = ["height,weight,kind", *(f"{height},{weight},{kind}" for height, weight, kind in rows())]
    (folder / "pets.csv").write_text("\n".join(lines) + "\n" if text is None else text)
    return f"csv:{folder / 'pets.csv'}"


def parquet_file(folder: Path, **columns: Any) -> str:
    """Write a table, and return its address."""
    height, weight, kind = map(list, zip(*rows(), strict=True))
    arrow: Any = import_module("pyarrow")
    table = arrow.table({"height": height, "weight": weight, "kind": kind, **columns})
    import_module("pyarrow.parquet").write_table(table, folder / "pets.parquet")
    return f"parquet:{folder / 'pets.parquet'}"


WRITERS = [csv_file, pytest.param(parquet_file, marks=has_pyarrow)]


def contents(data: Data) -> list[tuple[float, ...]]:
    """All rows: height, weight and label."""
    found = []
    for part in (data.train, data.test):
        assert isinstance(part, InMemory)
        assert part.images.shape[2:] == (1, 1)
        found += [(*x, y) for x, y in zip(part.images.flatten(1).tolist(), part.labels.tolist(), strict=True)]
    return sorted(found)


@pytest.mark.parametrize("write", WRITERS)
def test_a_table(tmp_path: Path, write: Any) -> None:
    data = load(f"{write(tmp_path)}?target=kind", tmp_path)
    assert (data.shape, data.classes, len(data.train), len(data.test)) == ((2, 1, 1), 3, 24, 6)
    order = sorted(KINDS)
    assert contents(data) == sorted((height, float(weight), order.index(kind)) for height, weight, kind in rows())
    assert len(data.statistics.mean) == 2
    assert load(f"{write(tmp_path)}?target=kind&features=weight", tmp_path).shape == (1, 1, 1)
    assert len(load(f"{write(tmp_path)}?target=kind&test=0.5", tmp_path).test) == 15


@has_pyarrow
def test_both_formats_give_the_same(tmp_path: Path) -> None:
    one, other = (load(f"{write(tmp_path)}?target=kind", tmp_path) for write in (csv_file, parquet_file))
    for part in ("train", "test"):
        first, second = (getattr(data, part).take(torch.arange(6)) for data in (one, other))
        assert all(map(torch.equal, first, second))


def test_rows_for_testing() -> None:
    """They are a share of every class, the same rows every time, and not in the order of the file."""
    labels = torch.arange(1000) % 7
    chosen = rows_for_testing(labels, 0.2)
    assert torch.equal(chosen, rows_for_testing(labels, 0.2))
    assert torch.bincount(labels[chosen]).tolist() == [29, 29, 29, 29, 29, 29, 28]
    places = chosen.nonzero().flatten()
    assert 400 < places.float().mean() < 600
    assert len(set((places[1:] - places[:-1]).tolist())) > 3
    assert not rows_for_testing(torch.tensor([0] * 10 + [2]), 0.2)[10]  # a class of its own is for training


def test_classes() -> None:
    assert classes_of(["b", "a", "10", "9"], "x")[1] == ("10", "9", "a", "b")
    labels, names = classes_of(["10", "9", "10.0", "-1"], "x")
    assert (labels.tolist(), names) == ([2, 1, 2, 0], ("-1", "9", "10"))
    with pytest.raises(NasError, match=r"has the target `0\.5`"):
        classes_of(["1", "0.5"], "x")


def test_csv_as_it_is_written_elsewhere(tmp_path: Path) -> None:
    """With a byte-order mark, quotes, spaces, empty lines, and names that have special characters."""
    text = '\ufeff"a,b",c&d,e f\r\n1e-2, 2,"x, y"\r\n\r\n' + "3,-4.5,z\r\n" * 8 + '1,2,"x, y"\r\n' * 8
    data = load(f"{csv_file(tmp_path, text)}?target=e f&features=c%26d,a%2Cb", tmp_path)
    assert contents(data)[0] == (-4.5, 3.0, 1)
    assert len(contents(data)) == 17


HEAD = "a,b,kind\n"
ODD_FILES = {
    "is empty": "",
    "has no value in line 3, column `b`": HEAD + "1,2,x\n1,,x\n",
    "has no value in line 2, column `a`": HEAD + "NaN,2,x\n",
    "has no value in line 2, column `kind`": HEAD + "1,2,\n",
    "has `tall` in line 3, column `a`, which is not a number": HEAD + "1,2,x\ntall,2,x\n",
    "has `1e99` in line 2, column `a`, which is too large": HEAD + "1e99,2,x\n",
    "has `-inf` in line 2, column `b`, which is too large": HEAD + "1,-inf,x\n",
    "has 2 values in line 2, but 3 columns": HEAD + "1,x\n",
    "is not CSV in line 3: unexpected end of data": HEAD + '1,2,x\n1,2,"x\n',
    "does not separate its columns with commas": "a;b;kind\n1;2;x\n",
}


@pytest.mark.parametrize("message", ODD_FILES)
def test_odd_files(tmp_path: Path, message: str) -> None:
    spec = csv_file(tmp_path, ODD_FILES[message])
    with pytest.raises(NasError) as error:
        load(f"{spec}?target=kind", tmp_path)
    assert problem(error).code == "NAS505"
    assert problem(error).message == f"`{tmp_path / 'pets.csv'}` {message}"


ODD_ADDRESSES = {
    "": "does not name its target",
    "?target=knd": "has no column `knd`",
    "?target=kind&features=weight,kind": "has its target `kind` among its features",
    "?target=kind&features=size": "has no column `size`",
    "?target=kind&test=2": "has `2` as `test`",
    "?target=kind&test=nan": "has `nan` as `test`",
    "?target=kind&test=much": "has `much` as `test`",
    "?target=kind&test=0.01": "has 30 rows, too few for training and testing",
    "?target=kind&traget=kind": "has an unknown option `traget`",
    "?target=kind&target=kind": "has two values for `target`",
    "?target=": "has no value for `target`",
    "?target=height&features=weight": "has the target `0.125`",
    "?target=weight&features=kind": "column `kind`, which",
}


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("options", ODD_ADDRESSES)
def test_odd_addresses(tmp_path: Path, write: Any, options: str) -> None:
    with pytest.raises(NasError) as error:
        load(f"{write(tmp_path)}{options}", tmp_path)
    assert problem(error).code == "NAS505"
    assert ODD_ADDRESSES[options] in problem(error).message


def test_other_odd_tables(tmp_path: Path) -> None:
    for text, message in {
        HEAD: "has no rows",
        "a,a,kind\n1,2,x\n": "has two columns called `a`",
        "kind\nx\ny\n": "has no column besides its target",
    }.items():
        with pytest.raises(NasError, match=message):
            load(f"{csv_file(tmp_path, text)}?target=kind", tmp_path)
    with pytest.raises(NasError, match="does not say where the data are"):
        load("csv:?target=kind", tmp_path)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    for name, content, code, message in (
        ("none.csv", None, "NAS502", "does not exist"),
        ("latin.csv", b"a,kind\n1,\xe4\n", "NAS503", "is not UTF-8 text"),
        (".", None, "NAS503", "cannot be read: Is a directory"),
    ):
        if content is not None:
            (tmp_path / name).write_bytes(content)
        with pytest.raises(NasError) as error:
            load(f"csv:{tmp_path / name}?target=kind", tmp_path)
        assert problem(error).code == code
        assert message in problem(error).message


def test_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_table, "MOST_VALUES", 10)
    with pytest.raises(NasError, match="has more than 10 values"):
        load(f"{csv_file(tmp_path)}?target=kind", tmp_path)


@has_pyarrow
def test_odd_parquet_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    heights = [one for one, _, _ in rows()]
    for height, message in (
        ([*heights[:4], None, *heights[5:]], "has no value in row 4, column `height`"),
        ([*heights[:4], float("nan"), *heights[5:]], "has `nan` in row 4, column `height`"),
    ):
        with pytest.raises(NasError, match=message):
            load(f"{parquet_file(tmp_path, height=height)}?target=kind", tmp_path)
    arrow: Any = import_module("pyarrow")
    no_text = arrow.array([b"\xff"] * len(heights)).view(arrow.string())
    (tmp_path / "no.parquet").write_bytes(b"PAR1" + b"x" * 100)
    for spec in (f"parquet:{tmp_path / 'no.parquet'}", parquet_file(tmp_path, kind=no_text)):
        with pytest.raises(NasError) as error:
            load(f"{spec}?target=kind", tmp_path)
        assert problem(error).code == "NAS503"
    monkeypatch.setattr(parquet_table, "MOST_VALUES", 10)
    with pytest.raises(NasError, match="has more than 10 values"):
        load(f"{parquet_file(tmp_path)}?target=kind", tmp_path)


def test_parquet_without_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(NasError) as error:
        load("parquet:x.parquet?target=kind", tmp_path)
    assert problem(error).code == "NAS507"
    assert "pip install pyarrow" in (problem(error).help or "")


def test_tables_are_not_augmented(tmp_path: Path) -> None:
    """The defaults of training are for images, and are off."""
    spec = f"{csv_file(tmp_path)}?target=kind"
    network = "network net : vector(2) -> classes(3) { in x  x -> out : linear(3) }"
    text = api.Text(network)
    found = api.train(text, data=spec, output=tmp_path / "run", batch=8, epochs=1)
    assert 0 <= found.outcome.score.accuracy <= 1
    with pytest.raises(NasError) as error:
        api.train(text, data=spec, output=tmp_path / "augmented", batch=8, crop=1, flip=True)
    assert problem(error).message.endswith("cannot be augmented with `crop`: its examples are rows of a table")
    assert problem(error).help == "leave out `crop` and `flip`: `-s crop=0 -s flip=false`"
