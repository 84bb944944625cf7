"""Operations and sets that are not defined in Python: primitives, and those of `.nas` files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath

from bayesnas_graph.builder.pieces import Argument, Named, Needs, Operation, Piece, Set, call, check_name
from bayesnas_graph.diagnostics import did_you_mean


@dataclass(frozen=True)
class FileImport(Named):
    """An imported file. Without an alias, its names are used as they are."""

    path: str
    alias: str | None = None

    @property
    def name(self) -> str:  # type: ignore[override]
        """The name of its namespace, or its path."""
        return self.alias or self.path

    @property
    def text(self) -> str:
        """The import in the language."""
        return f'import "{self.path}"' + (f" as {self.alias}" if self.alias else "")


@dataclass(frozen=True)
class LibraryOperation(Named):
    """An operation without its arguments, such as `conv`."""

    name: str
    needs: Needs
    doc: str = ""

    def __call__(self, *args: Argument, **kwargs: Argument) -> Operation:
        own = Piece(self.name, needs=self.needs)
        return call(Operation, own, *args, **kwargs) if args or kwargs else own.as_a(Operation)


class Library:
    """The definitions of a `.nas` file: `bench = Library("nasbench201.nas")`, then `bench.op("stage")`."""

    def __init__(self, path: str, alias: str | None = None) -> None:
        alias = PurePath(path).stem if alias is None else alias
        check_name(alias)
        self._import = FileImport(path, alias)

    def op(self, name: str) -> LibraryOperation:
        """A motif, cell or Python operation of the file."""
        return LibraryOperation(self._member(name), self._needs)

    def set(self, name: str, *args: Argument, **kwargs: Argument) -> Set:
        """A set of the file, with its arguments."""
        own = Piece(self._member(name), needs=self._needs)
        return call(Set, own, *args, **kwargs) if args or kwargs else own.as_a(Set)

    def _member(self, name: str) -> str:
        check_name(name)
        return f"{self._import.alias}.{name}"

    @property
    def _needs(self) -> Needs:
        return Needs((self._import,), frozenset([self._import.name]))


def known(name: str, names: dict[str, str], module: str, needs: tuple[Named, ...] = ()) -> LibraryOperation:
    """An operation of a module by its name. Raises AttributeError."""
    if name not in names:
        help = did_you_mean(name, names)
        raise AttributeError(f"module `{module}` has no operation `{name}`" + (f"; {help}" if help else ""))
    return LibraryOperation(name, Needs(needs, frozenset([name])), names[name])
