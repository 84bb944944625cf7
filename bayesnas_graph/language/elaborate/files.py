"""Load files and their imports as modules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from bayesnas_graph.diagnostics import Diagnostic, Fix, Label, Report, did_you_mean, nearest, suggestion
from bayesnas_graph.diagnostics.reading import read_file, real_path
from bayesnas_graph.diagnostics.resources import folder, shipped_spaces
from bayesnas_graph.diagnostics.source import Source, Span
from bayesnas_graph.ir.ops import PRIMITIVES
from bayesnas_graph.language.elaborate.limits import DEEPEST_IMPORT, LARGEST_FILE, MOST_FILES
from bayesnas_graph.language.syntax import ast, parse


@dataclass(eq=False)
class Module:
    """A file and the names that it can use. `path` is None for text that is not from a file."""

    file: ast.File
    path: Path | None
    own: dict[str, ast.Definition] = field(default_factory=dict)
    imported: dict[str, tuple[Module, ast.Import]] = field(default_factory=dict)  # name -> where it is defined
    aliases: dict[str, tuple[Module, ast.Import]] = field(default_factory=dict)
    lost: set[str] = field(default_factory=set)  # names that could not be read; "" if unknown
    files: list[tuple[Module, ast.Import]] = field(default_factory=list)  # the files that it imports

    def may_define(self, name: str) -> bool:
        """Return whether an unknown name may be defined in a part that could not be read (already reported)."""
        return name in self.lost or "" in self.lost

    @property
    def networks(self) -> tuple[ast.Motif, ...]:
        """The networks defined in this file, not imported."""
        return tuple(d for d in self.own.values() if isinstance(d, ast.Motif) and d.role == "network")

    def find(self, name: str) -> tuple[Module, ast.Definition] | None:
        """The definition behind a top-level name of this file, with its module."""
        if name in self.own:
            return self, self.own[name]
        if name in self.imported:
            module, _ = self.imported[name]
            return module, module.own[name]
        return None

    def knows(self, name: str) -> bool:
        """Return whether a name is defined at the top of this file."""
        return name in self.own or name in self.imported or name in self.aliases or name in PRIMITIVES

    def visible(self) -> set[str]:
        """All names known at the top of this file."""
        return {*self.own, *self.imported, *self.aliases, *PRIMITIVES}


class Loader:
    """Reads files, each once, and follows their imports. `texts` are read instead of the files at their paths."""

    def __init__(self, report: Report, texts: Mapping[Path, Source] | None = None) -> None:
        self.report = report
        self.texts = texts or {}
        self._modules: dict[Path, Module | None] = {}
        self._open: list[tuple[Path, Span | None]] = []  # files being read, and the import that led to each
        self._texts: list[Module] = []
        self._full = False  # whether it was reported that there are too many files

    def __iter__(self) -> Iterator[Module]:
        yield from (module for module in self._modules.values() if module is not None)
        yield from self._texts

    def text(self, source: Source, path: Path | None = None) -> Module:
        """The module of a text that is already in memory."""
        module = self._module(source, path)
        self._texts.append(module)
        return module

    def path(self, path: Path, name: str | None = None) -> Module | None:
        """The module of a file; None if it could not be read."""
        return self._load(real_path(path), name or str(path), None)

    def _load(self, path: Path, name: str, wanted_by: Span | None) -> Module | None:
        opening = [p for p, _ in self._open]
        if path in opening:
            self._cycle(opening.index(path), wanted_by)
            return None
        if path in self._modules:
            return self._modules[path]
        source = None if self._too_many(wanted_by) else self._source(path, name, wanted_by)
        if source is None:
            self._modules[path] = None
            return None
        self._open.append((path, wanted_by))
        module = self._module(source, path)
        self._open.pop()
        self._modules[path] = module
        return module

    def _source(self, path: Path, name: str, wanted_by: Span | None) -> Source | None:
        return self.texts.get(path) or read(path, name, self.report, wanted_by)

    def _too_many(self, wanted_by: Span | None) -> bool:
        """Report that no more files are imported, if so."""
        if wanted_by is None or (len(self._open) < DEEPEST_IMPORT and len(self._modules) < MOST_FILES):
            return False
        if len(self._open) < DEEPEST_IMPORT:
            message, help = f"more than {MOST_FILES:,} files are imported", "put their definitions into fewer files"
            diagnostic = Diagnostic("NAS406", message, Label(wanted_by, "one too many"), help=help)
        else:
            message = f"imports are nested more than {DEEPEST_IMPORT} files deep"
            help = "import the files that are needed directly"
            diagnostic = Diagnostic("NAS404", message, Label(wanted_by, "one too many"), help=help)
        if not self._full:
            self.report.add(diagnostic)
        self._full = True
        return True

    def tree(self, file: ast.File, path: Path | None = None) -> Module:
        """The module of a text that is already parsed."""
        module = self._linked(file, path)
        self._texts.append(module)
        return module

    def _module(self, source: Source, path: Path | None) -> Module:
        return self._linked(parse(source, self.report), path)

    def _linked(self, file: ast.File, path: Path | None) -> Module:
        module = Module(file, path, lost=set(file.lost))
        for item in file.imports:
            self._import(module, item)
        for definition in file.definitions:
            self._define(module, definition)
        return module

    def _define(self, module: Module, definition: ast.Definition) -> None:
        name = definition.name
        first: Label | None = None
        help = "rename one of them"
        if name.name in PRIMITIVES:
            self.report.add(
                Diagnostic(
                    "NAS102",
                    f"`{name.name}` is a primitive",
                    Label(name.span, "cannot be redefined"),
                    help="choose another name",
                )
            )
            return
        if name.name in module.own:
            first = Label(module.own[name.name].name.span, "first defined here")
        elif name.name in module.imported:
            first = Label(module.imported[name.name][1].span, "imported here")
            help = "rename it, or import that file with `as`"
        elif name.name in module.aliases:
            first = Label(module.aliases[name.name][1].span, "first defined here")
        if first is not None:
            self._twice(Label(name.span, "defined again"), first, name.name, help)
            return
        module.own[name.name] = definition

    def _import(self, module: Module, item: ast.Import) -> None:
        path = self._find(module, item)
        imported = self._load(path, shown_name(module, item.path, path), item.path_span) if path else None
        if imported is None:
            module.lost.add("")
            return
        module.files.append((imported, item))
        if item.alias is not None:
            alias = item.alias.name
            if alias in PRIMITIVES:
                label = Label(item.alias.span, "cannot be redefined")
                self.report.add(Diagnostic("NAS102", f"`{alias}` is a primitive", label, help="choose another name"))
                return
            if module.knows(alias):
                self._twice(Label(item.alias.span, "defined again"), None, alias, "choose another name after `as`")
                return
            module.aliases[alias] = imported, item
            return
        for name, definition in imported.own.items():
            if isinstance(definition, ast.Motif) and definition.role == "network":
                continue  # networks are not imported: every file may have a `search`
            before = module.imported.get(name)
            if before is not None and before[0] is not imported:
                first = Label(before[1].span, "from this file")
                self._twice(Label(item.span, "and from this one"), first, name, "import one of the files with `as`")
                continue
            module.imported[name] = imported, item
        module.lost |= imported.lost

    def _find(self, module: Module, item: ast.Import) -> Path | None:
        """The path of an imported file: next to the importing file, or in the shipped library.

        Only `.nas` files are imported, so that no error message shows lines of other files.
        """
        shipped = folder("spaces") / item.path
        beside = (module.path.parent if module.path else Path.cwd()) / item.path
        try:
            for path in (beside, shipped):
                if path.is_file():
                    found = real_path(path)
                    if path.suffix == found.suffix == ".nas":
                        return found
                    label = Label(item.path_span, "does not end in `.nas`")
                    help = "rename the file if it describes a search space"
                    self.report.add(Diagnostic("NAS103", f"cannot import `{item.path}`", label, help=help))
                    return None
        except (OSError, ValueError):
            pass  # not a valid file name
        known = [path.name for path in shipped_spaces()]
        near = nearest(item.path, known) or nearest(item.path + ".nas", known)
        self.report.add(
            Diagnostic(
                "NAS103",
                f"cannot find `{item.path}`",
                Label(item.path_span, "not found next to this file or in the shipped library"),
                help=suggestion(near) or "`bayesnas-graph spaces` lists the files in the library",
                fix=Fix(item.path_span, f'"{near}"') if near else None,
            )
        )
        return None

    def _cycle(self, start: int, wanted_by: Span | None) -> None:
        round_trip = [path.name for path, _ in self._open[start:]]
        route = " -> ".join([*round_trip, round_trip[0]])
        others = [Label(span, "which is imported here") for _, span in reversed(self._open[start + 1 :]) if span]
        assert wanted_by is not None, "only an import can close a cycle"
        self.report.add(
            Diagnostic(
                "NAS104",
                f"imports form a cycle: {route}",
                Label(wanted_by, "closes the cycle"),
                tuple(others),
                help="move shared definitions into a file that both import",
            )
        )

    def _twice(self, here: Label, first: Label | None, name: str, help: str) -> None:
        self.report.add(Diagnostic("NAS102", f"`{name}` is defined twice", here, (first,) if first else (), help))


def shown_name(module: Module, written: str, path: Path) -> str:
    """The name of an imported file in messages: relative to its importer, or its own name if shipped."""
    if path.parent == folder("spaces").resolve() and (module.path is None or path.parent != module.path.parent):
        return f"<shipped>/{written}"
    return str(Path(module.file.source.name).parent / written)


def read(path: Path, name: str, report: Report, wanted_by: Span | None = None) -> Source | None:
    """The text of a file; None, with a diagnostic reported, if it cannot be read."""
    try:
        problem = _refusal(path, name)
        if problem is None:
            text = read_file(path, LARGEST_FILE).decode("utf-8-sig")
            return Source(name, text.replace("\r\n", "\n").replace("\r", "\n"))
    except UnicodeDecodeError as error:
        reason = f"not UTF-8 text (byte {error.start})"
        problem = Diagnostic("NAS011", f"cannot read `{name}`: {reason}", help="save it as UTF-8")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        problem = Diagnostic("NAS011", f"cannot read `{name}`: {reason}")
    report.add(replace(problem, primary=Label(wanted_by, "imported here") if wanted_by else None))
    return None


def _refusal(path: Path, name: str) -> Diagnostic | None:
    """A diagnostic for a path that is not opened: missing, a folder, a pipe or a device, or too large."""
    if path.is_dir():
        return Diagnostic("NAS011", f"cannot read `{name}`: it is a folder", help="give a `.nas` file in it")
    if not path.exists():
        known = [other.name for other in path.parent.glob("*.nas")] + [other.stem for other in shipped_spaces()]
        help = did_you_mean(path.name, known)
        return Diagnostic("NAS011", f"cannot read `{name}`: file not found", help=help)
    if not path.is_file():
        return Diagnostic("NAS011", f"cannot read `{name}`: not a regular file")
    if path.stat().st_size > LARGEST_FILE:
        return Diagnostic("NAS406", f"cannot read `{name}`: larger than {LARGEST_FILE // 2**20} MiB")
    return None
