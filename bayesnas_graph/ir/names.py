"""Names of nodes as they are shown to people."""

from __future__ import annotations

import re


def shown_name(name: str) -> str:
    """The name of a node as it was written.

    >>> shown_name("h.0"), shown_name("seen.1.f_0")
    ('h[0]', 'seen[1].f_0')
    """
    return re.sub(r"\.(\d+)(?=\.|$)", r"[\1]", name)
