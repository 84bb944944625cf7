"""Checksums inside files, to notice whatever has changed a file since it was written.

Each file carries its own checksum, so a file that is replaced atomically never disagrees with it. A JSON document has
it as a field; a file of bytes ends with it. Files without a checksum are accepted: older versions wrote none, and a
person who edits a document removes the field.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

FIELD = "checksum"  # of JSON documents
_TRAILER = b"\nsha256:"  # followed by 64 digits


class Changed(ValueError):
    """The content has changed since it was written."""

    def __init__(self) -> None:
        super().__init__("it has changed since it was written")


def digest(content: bytes | memoryview) -> str:
    """Return the SHA-256 of some bytes."""
    return sha256(content).hexdigest()


def problem_of(error: Exception) -> str:
    """Describe why a file cannot be used, for a message."""
    return str(error) if isinstance(error, Changed) else "it is damaged"


def help_for(error: Exception, otherwise: str | None = None) -> str | None:
    """Return how to go on with a JSON document that cannot be used."""
    if not isinstance(error, Changed):
        return otherwise
    edited = f"if you edited it, remove its `{FIELD}` field to use it as it is"
    return edited if otherwise is None else f"{otherwise}; {edited}"


def with_checksum(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a JSON document with its checksum as the last field."""
    return {**document, FIELD: _digest_of(json.loads(json.dumps(document)))}


def checked(document: Any) -> Any:
    """Return a parsed JSON document without its checksum. Raises Changed, or ValueError if it cannot be compared."""
    if not isinstance(document, dict) or FIELD not in document:
        return document
    content = {key: value for key, value in document.items() if key != FIELD}
    if document[FIELD] != _digest_of(content):
        raise Changed
    return content


def _digest_of(document: dict[str, Any]) -> str:
    """Return the checksum of what a document says, however it is laid out."""
    try:
        return digest(json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False).encode())
    except RecursionError:
        raise ValueError("nested too deeply") from None


def trailer(content: bytes | memoryview) -> bytes:
    """Return the bytes that end a file with this content."""
    return _TRAILER + digest(content).encode()


def without_trailer(content: bytes) -> memoryview:
    """Return the content of a file without its trailer. Raises Changed."""
    start = max(0, len(content) - len(_TRAILER) - 64)
    if content[start : start + len(_TRAILER)] != _TRAILER:
        return memoryview(content)
    inner = memoryview(content)[:start]
    if trailer(inner) != content[start:]:
        raise Changed
    return inner
