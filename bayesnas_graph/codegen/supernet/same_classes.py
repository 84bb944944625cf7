"""Choices of one source have one class, so that torch.compile knows what it has compiled before.

Every program that is built has classes of its own, and torch keeps what it compiles by class. When a search closes
switches, the next program has many of the choices of the one before, though its classes may have other numbers.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple
from weakref import WeakValueDictionary

from torch import nn

PROGRAMS = 8  # that are remembered: those of a learner and of the one before, and a few more


class _Source(NamedTuple):
    """The source of a class."""

    text: str  # of it, of the emitted classes it uses, each named by its number, and of what they import
    uses: tuple[str, ...]  # their names


_known: WeakValueDictionary[tuple[str, str], type[nn.Module]] = WeakValueDictionary()  # as long as a network has them


def reuse_classes(network: nn.Module) -> None:
    """Give the choices of a network the classes that earlier networks have, where the emitted source is the same.

    A choice changes with all modules in it: torch cannot compile functions together that come from different programs.
    """
    for child in network.children():
        if getattr(type(child), "role", "") == "choice":
            _reuse(child)
        else:
            reuse_classes(child)


def _reuse(choice: nn.Module) -> None:
    own = type(choice)
    source = _source(own)
    known = _known.setdefault((own.__module__, source.text), own)
    if known is not own:
        scope = known.forward.__globals__
        classes = {name: scope[other] for name, other in zip(source.uses, _source(known).uses, strict=True)}
        for part in choice.modules():
            if type(part).__module__ == own.__module__:
                part.__class__ = classes[type(part).__name__]


def _source(kind: type[nn.Module]) -> _Source:
    return _sources(kind.forward.__code__.co_filename)[kind.__name__]


@lru_cache(PROGRAMS)
def _sources(file: str) -> dict[str, _Source]:
    """The classes of an emitted file, by name."""
    tree = ast.parse("".join(linecache.getlines(file)))
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    # The text of the file comes before the rest. All classes may use its functions.
    others = [node for node in tree.body[1:] if not isinstance(node, ast.ClassDef | ast.Import | ast.ImportFrom)]
    imports = _imports(tree)
    found = {}
    for name in classes:
        uses = _uses(name, classes)
        used = _names([*others, *(classes[one] for one in uses)])
        numbers = {one: f"class_{number}" for number, one in enumerate(uses)}
        texts = [ast.unparse(_Renamed(numbers).visit(ast.parse(ast.unparse(classes[one])))) for one in uses]
        imported = [text for one, text in imports if one in used]
        found[name] = _Source("\n".join([*imported, *map(ast.unparse, others), *texts]), tuple(uses))
    return found


def _imports(tree: ast.Module) -> list[tuple[str, str]]:
    """All imported names, with the imports of each."""
    found = []
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            for name in node.names:
                only = ast.Import([name]) if isinstance(node, ast.Import) else ast.ImportFrom(node.module, [name], 0)
                found.append(((name.asname or name.name).partition(".")[0], ast.unparse(only)))
    return found


def _names(nodes: Iterable[ast.AST]) -> set[str]:
    """All names in some code."""
    return {inner.id for node in nodes for inner in ast.walk(node) if isinstance(inner, ast.Name)}


def _uses(name: str, classes: Mapping[str, ast.ClassDef]) -> list[str]:
    """A class and those it uses, in the order in which they are first named."""
    found = [name]
    for one in found:  # grows
        for inner in ast.walk(classes[one]):
            if isinstance(inner, ast.Name) and inner.id in classes and inner.id not in found:
                found.append(inner.id)
    return found


class _Renamed(ast.NodeTransformer):
    """Replaces the names of classes."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.name = self.names.get(node.name, node.name)
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self.names.get(node.id, node.id)
        return node
