"""Templates filled in. Whatever comes from outside is text there, never markup."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup


def filled(template: str, **values: object) -> Markup:
    """A template of `web/` with these values, as HTML."""
    from markupsafe import Markup

    return Markup(_environment().get_template(template).render(**values))


def json_script(content: object) -> Markup:
    r"""What JSON can hold, fit to stand in a script element: nothing in it can end that.

    >>> print(json_script({"name": "</script>"}))
    {"name":"\u003c/script>"}
    """
    from markupsafe import Markup

    written = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Markup(written.replace("<", "\\u003c"))


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("bayesnas_graph.report", "web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
