"""HTML templates. Values are escaped: text from outside never becomes markup."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup


def render_template(name: str, **values: object) -> Markup:
    """Render a template of `web/`."""
    return trusted(_environment().get_template(name).render(**values))


def trusted(html: str) -> Markup:
    """Mark HTML as safe, so that templates do not escape it."""
    from markupsafe import Markup

    return Markup(html)


def json_script(content: object) -> Markup:
    r"""Return JSON that is safe inside a script element.

    >>> print(json_script({"name": "</script>"}))
    {"name":"\u003c/script>"}
    """
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return trusted(text.replace("<", "\\u003c"))


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
