"""Check whole files: the only way from text to networks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TypeVar

from bayesnas_graph.diagnostics import Diagnostic, Label, NasError, Report, did_you_mean
from bayesnas_graph.diagnostics.source import Source
from bayesnas_graph.ir import Graph, named_shape
from bayesnas_graph.language.elaborate.arguments import signature_of
from bayesnas_graph.language.elaborate.block import Block, UnfinishedBlock, flatten
from bayesnas_graph.language.elaborate.channels import numbers_in
from bayesnas_graph.language.elaborate.choosing import named
from bayesnas_graph.language.elaborate.evaluate import Evaluator
from bayesnas_graph.language.elaborate.expand import Expander
from bayesnas_graph.language.elaborate.files import Loader, Module
from bayesnas_graph.language.elaborate.limits import Limits, Meter
from bayesnas_graph.language.elaborate.names import check_names
from bayesnas_graph.language.elaborate.number_choices import Pending
from bayesnas_graph.language.elaborate.scope import NameScope
from bayesnas_graph.language.elaborate.values import Argument, MotifFunction, Use, Value, ValueType, show, type_text
from bayesnas_graph.language.elaborate.wiring import Budget
from bayesnas_graph.language.syntax import ast
from bayesnas_graph.language.syntax.deep_stack import deep_stack

T = TypeVar("T")


@dataclass(frozen=True)
class Network:
    """A network with values for all its parameters and all motifs expanded."""

    name: str
    arguments: tuple[tuple[str, Value], ...]
    block: Block
    inputs: tuple[ValueType, ...]
    outputs: tuple[ValueType, ...]
    budgets: tuple[Budget, ...]
    definition: ast.Motif = field(repr=False)
    module: Module | None = field(default=None, repr=False, compare=False)  # the file that defines it
    given: tuple[tuple[str, Argument], ...] = ()  # the arguments that are not the defaults of the text

    def graph(self) -> Graph:
        """The network as one flat graph."""
        return flatten(self.block, self.name, [kind.predicts for kind in self.outputs])

    @property
    def arguments_text(self) -> str:
        """The values of its parameters, such as `width = 8, labels = 10`."""
        return ", ".join(f"{name} = {show(value)}" for name, value in self.arguments)

    @property
    def call_text(self) -> str:
        """The network as a call, such as `net(width = 8)`, or just its name."""
        return f"{self.name}({self.arguments_text})" if self.arguments else self.name

    def __repr__(self) -> str:
        return f"<network {self.call_text}: {self.block.nodes:,} operations, {self.block.choices:,} choices>"

    def _repr_svg_(self) -> str | None:
        """The picture that a notebook shows. The report package imports networks, so it is imported by name here."""
        svg: str | None = import_module("bayesnas_graph.report.notebook").network_svg(self)
        return svg


@dataclass(frozen=True)
class Space:
    """A checked file and its networks."""

    module: Module
    networks: tuple[Network, ...]

    @property
    def doc(self) -> str:
        """The documentation of the file."""
        return self.module.file.doc


class Checker:
    """Checks files, each read once. `texts` are read instead of the files at their paths."""

    def __init__(
        self,
        report: Report,
        limits: Limits | None = None,
        *,
        allow_python: bool = False,
        texts: Mapping[Path, Source] | None = None,
    ) -> None:
        self.report = report
        self.limits = limits or Limits()
        self.allow_python = allow_python
        self.loader = Loader(report, texts)
        self.unfinished: list[UnfinishedBlock] = []  # what is known about motifs with errors
        self._named: set[Module] = set()

    def path(self, path: Path, name: str | None = None) -> Space | None:
        """Check a file; None if it could not be read at all."""
        with deep_stack():
            module = self.loader.path(path, name)
            return self._space(module) if module is not None else None

    def text(self, source: Source, path: Path | None = None) -> Space:
        """Check a text; `path` is where its imports are looked up."""
        with deep_stack():
            return self._space(self.loader.text(source, path))

    def module(self, path: Path, name: str | None = None) -> Module | None:
        """Read a file and check its names, without elaborating its networks; None if it could not be read at all."""
        with deep_stack():
            module = self.loader.path(path, name)
            self._check_names()
            return module

    def text_module(self, source: Source, path: Path | None = None) -> Module:
        """Check the names of a text, without elaborating its networks; `path` is where its imports are looked up."""
        with deep_stack():
            module = self.loader.text(source, path)
            self._check_names()
            return module

    def _check_names(self) -> None:
        for loaded in self.loader:
            if loaded not in self._named:
                self._named.add(loaded)
                self._guarded(partial(check_names, loaded, self.report), loaded)

    def _space(self, module: Module) -> Space:
        self._check_names()
        networks = []
        for definition in module.networks:
            network = self.network(module, definition.name.name)
            if network is not None:
                networks.append(network)
        return Space(module, tuple(networks))

    def network(self, module: Module, name: str, overrides: Mapping[str, Argument] | None = None) -> Network | None:
        """Expand a network, with values for some of its parameters; None if it has errors."""
        definition = module.own.get(name)
        if not isinstance(definition, ast.Motif) or definition.role != "network":
            known = [network.name.name for network in module.networks]
            help = did_you_mean(name, known) or (
                f"the file defines {', '.join(known)}" if known else "the file defines no network"
            )
            self.report.add(Diagnostic("NAS107", f"no network `{name}` in {module.file.source.name}", help=help))
            return None
        with deep_stack():
            return self._guarded(partial(self._network, module, definition, overrides or {}), module)

    def _network(self, module: Module, definition: ast.Motif, overrides: Mapping[str, Argument]) -> Network:
        evaluator = Evaluator(self.report, Meter(self.limits, self.report), self.allow_python)
        scope = NameScope(module, owner=Pending(definition))
        signature = signature_of(definition)
        for name in overrides:
            if name not in signature.parameters:
                help = did_you_mean(name, signature.parameters)
                label = Label(definition.name.span, f"usage: `{signature}`")
                self.report.fail(
                    Diagnostic("NAS202", f"network `{signature.name}` has no parameter `{name}`", label, help=help)
                )
        for parameter in definition.parameters:
            name = parameter.name.name
            if name in overrides:
                scope.names[name] = overrides[name]
            elif parameter.default is not None:
                scope.names[name] = named(evaluator.value(parameter.default, scope), name)
            else:
                label = Label(parameter.span, "has no default")
                help = "add a default value"
                self.report.fail(
                    Diagnostic("NAS202", f"parameter `{name}` of a network needs a default", label, help=help)
                )
        arguments = tuple(scope.names.items())
        inputs = tuple(_type(evaluator, expr, scope) for expr in definition.inputs)
        outputs = tuple(_type(evaluator, expr, scope) for expr in definition.outputs)
        expander = Expander(evaluator)
        use = Use(MotifFunction(module, definition), arguments, definition.name.span)
        try:
            block = expander.block(use, tuple(t.shape for t in inputs), definition.name.span)
        finally:
            self.unfinished += expander.unfinished
        self._compare_outputs(definition, block, outputs)
        expander.agreement.report_unused()
        budgets = tuple(expander.wiring(block).budgets)
        given = tuple(overrides.items())
        return Network(definition.name.name, arguments, block, inputs, outputs, budgets, definition, module, given)

    def _compare_outputs(self, definition: ast.Motif, block: Block, declared: tuple[ValueType, ...]) -> None:
        if len(block.output_shapes) != len(declared):
            label = Label(definition.name.span, f"declares {len(declared)}")
            number = len(block.output_shapes)
            message = f"network `{definition.name.name}` has {number} output{'s' * (number != 1)}"
            self.report.fail(Diagnostic("NAS212", message, label))
        for shape, wanted, expr in zip(block.output_shapes, declared, definition.outputs, strict=True):
            if shape != wanted.shape:
                label = Label(expr.span, f"declared as {type_text(wanted)}")
                message = f"network `{definition.name.name}` outputs {named_shape(shape)}"
                help = None
                if len(shape) > 1 and wanted.kind in ("classes", "values", "labels"):
                    help = f"end with `global_avg_pool > linear({wanted.shape[0]})`"
                elif wanted.kind in ("classes", "values", "labels"):
                    help = f"end with {wanted.shape[0]} values, for example `linear({wanted.shape[0]})`"
                self.report.fail(Diagnostic("NAS212", message, label, help=help))
        for choice in numbers_in(block.output_channels):
            message = f"the width of the output depends on the choice of `{choice.name}`"
            label = Label(definition.outputs[0].span, "declared with one width")
            help = "end with an operation of a fixed width"
            chosen = Label(choice.span, f"`{choice.name}` is chosen here")
            self.report.fail(Diagnostic("NAS216", message, label, (chosen,), help))

    def _guarded(self, work: Callable[[], T], module: Module) -> T | None:
        """Run something that may fail; None if it failed, with the problem in the report."""
        try:
            return work()
        except NasError:
            assert self.report.has_errors, "work is only abandoned after its problem was reported"
        except RecursionError:
            at = module.file.items[0].span
            message = "an expression or statement is nested too deeply"
            self.report.add(
                Diagnostic("NAS404", message, Label(at, "in this file"), help="name the inner parts with `let`")
            )
        return None


def _type(evaluator: Evaluator, expr: ast.Expr, scope: NameScope) -> ValueType:
    value = evaluator.value(expr, scope)
    if not isinstance(value, ValueType):
        evaluator.fail(
            "NAS203",
            "expected an input or output type",
            expr.span,
            "",
            "for example `image(3, 32, 32) -> classes(10)`",
        )
    return value
