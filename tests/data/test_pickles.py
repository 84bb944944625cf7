"""Pickles are read without executing any of them."""

from __future__ import annotations

import builtins
import os
import pickle
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesnas_graph.data.pickles import NotPlain, read_pickle
from tests.data.files import python2_pickle

ARRAY = np.arange(6, dtype=np.uint8).reshape(2, 3)
CONTENT = {"data": ARRAY, "labels": [1, 2**40, -3], "names": ("a", None, True, b"x" * 300), "more": {"b": []}}
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.binary(min_size=1),
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(st.text(), inner),
    max_leaves=6,
)


@pytest.mark.parametrize("protocol", [2, 3, 4])
def test_what_is_read(protocol: int) -> None:
    found = read_pickle(pickle.dumps(CONTENT, protocol))
    assert np.array_equal(found.pop("data"), ARRAY)
    assert found == {key: value for key, value in CONTENT.items() if key != "data"}


@given(st.dictionaries(st.text(), PLAIN), st.sampled_from([2, 3, 4]))
def test_plain_values(value: dict[str, Any], protocol: int) -> None:
    assert read_pickle(pickle.dumps(value, protocol)) == pickle.loads(pickle.dumps(value, protocol))


CALLS = {
    "global and reduce": b"cos\nsystem\n(S'true'\ntR.",
    "reduce with short texts": b"\x80\x02cos\nsystem\nU\x04true\x85R.",
    "names on the stack": b"\x80\x04\x8c\x02os\x8c\x06system\x93\x8c\x04true\x85R.",
    "instance": b"(S'true'\nios\nsystem\n.",
    "object": b"(cos\nsystem\nU\x04trueo.",
    "new object": b"\x80\x02cos\nsystem\nU\x04true\x85\x81.",
    "new object with names": b"\x80\x04cos\nsystem\n)}\x92.",
    "extension": b"\x80\x02\x82\x01.",
    "persistent name": b"Ptrue\n.",
    "persistent value": b"U\x04trueQ.",
    "array that is set": b"cnumpy\nndarray\n}U\x0c__setstate__cos\nsystem\nsb.",
    "state of an array": b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\n)U\x01b\x87R(K\x01cos\nsystem\ntb.",
    "array called": b"cnumpy\nndarray\nU\x04true\x85R.",
    "encoder of another kind": b"c_codecs\nencode\nX\x01\x00\x00\x00aX\x03\x00\x00\x00hex\x87R.",
    "numbers that are objects": b"cnumpy\ndtype\nU\x02O8K\x00K\x01\x87R.",
    "an encoder changed": b"c_codecs\nencode\n}b.",
    "dotted name": b"\x80\x04\x8c\x05numpy\x8c\x0cdtype.__new__\x93.",
    "buffer": b"\x80\x05\x97.",
}


@pytest.mark.parametrize("name", CALLS)
def test_nothing_is_called(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor imported."""

    def refuse(*_: object, **__: object) -> Any:
        pytest.fail("it was run")

    with monkeypatch.context() as patch:
        patch.setattr(os, "system", refuse)
        patch.setattr(builtins, "__import__", refuse)
        with pytest.raises(NotPlain):
            read_pickle(CALLS[name])


WHOLE = python2_pickle({b"data": ARRAY, b"labels": [0, 1], b"names": [b"a.png"] * 2})


@given(st.lists(st.tuples(st.integers(0, len(WHOLE) - 1), st.integers(0, 255)), min_size=1, max_size=4))
def test_damaged_pickles(changes: list[tuple[int, int]]) -> None:
    """They hold plain values or are refused."""
    content = bytearray(WHOLE)
    for place, byte in changes:
        content[place] = byte
    for damaged in (bytes(content), bytes(content[: changes[0][0]])):
        try:
            found = read_pickle(damaged)
        except NotPlain:
            continue
        for value in found.values():
            assert isinstance(value, list | tuple | dict | bytes | str | int | np.ndarray | None)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "it is damaged"),
        (b"}", "it is damaged"),
        (b"}}.", "it is damaged"),
        (b".", "it is damaged"),
        (b"0.", "it uses `POP`"),
        (b"(0.", "it uses `POP`"),
        (b"(\x85.", "it is damaged: a value is missing"),
        (b"}]K\x01s.", "it has a key that is not a text"),
        (b"N(K\x01u.", "it is damaged: keys and values do not match"),
        (b"}K\x01a.", "it is damaged: something is appended to what is not a list"),
        (b"K\x01K\x02R.", "it calls what is not a function"),
        (b"\x8e" + struct.pack("<Q", 2**62) + b"x.", "it is damaged"),
        (b"}" + b"h\x05.", "it is damaged"),
        (b"(" * 10**5 + b"\x85.", "it is damaged: a value is missing"),
    ],
)
def test_messages(content: bytes, message: str) -> None:
    with pytest.raises(NotPlain) as error:
        read_pickle(content)
    assert str(error.value).startswith(message)
