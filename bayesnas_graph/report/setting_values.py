"""Settings as text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def flat_settings(settings: Mapping[str, Any], table: str = "") -> dict[str, str]:
    """Values by key, with the keys of tables as on the command line.

    >>> flat_settings({"rate": 0.1, "parameters": {"width": 8}})
    {'rate': '0.1', 'parameters.width': '8'}
    """
    flat: dict[str, str] = {}
    for key, value in settings.items():
        flat |= (
            flat_settings(value, f"{table}{key}.")
            if isinstance(value, dict)
            else {f"{table}{key}": setting_text(value)}
        )
    return flat


def setting_text(value: object) -> str:
    """A value of a settings file as text, a dash for none."""
    return value if isinstance(value, str) else "—" if value is None else json.dumps(value, ensure_ascii=False)
