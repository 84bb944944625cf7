"""Formulas as MathML, so that pages need no script to show them."""

from __future__ import annotations

import html
import re

from latex2mathml.converter import convert

_FORMULA = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.DOTALL)


def typeset(page: str) -> str:
    r"""Return a page with MathML in place of the formulas that pymdownx.arithmatex has marked.

    >>> typeset(r'<span class="arithmatex">\(a &lt; b\)</span>').partition("<mrow>")[2]
    '<mi>a</mi><mo>&#x0003C;</mo><mi>b</mi></mrow></math>'
    """
    return _FORMULA.sub(_mathml, page)


def _mathml(found: re.Match[str]) -> str:
    is_block = found[2] == "["
    # GitHub wants `aligned` inside a formula, the converter only knows the environment for a whole one.
    text = html.unescape(found[3]).strip().replace("{aligned}", "{align*}")
    formula: str = convert(text, display="block" if is_block else "inline")
    return f'<div class="formula">{formula}</div>' if is_block else formula
