"""Static checks: names are defined, and only once per scope; calls have matching arguments.

They need no values, so they also cover motifs that no network uses.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from bayesnas_graph.diagnostics import Diagnostic, Label, Report
from bayesnas_graph.diagnostics.source import Span
from bayesnas_graph.ir.ops import PRIMITIVES
from bayesnas_graph.language.elaborate.arguments import Signature, arrange, primitive_signature, signature_of
from bayesnas_graph.language.elaborate.builtins import BUILTINS
from bayesnas_graph.language.elaborate.files import Module
from bayesnas_graph.language.elaborate.library import library_names
from bayesnas_graph.language.elaborate.other_names import other_name
from bayesnas_graph.language.syntax import ast
from bayesnas_graph.language.syntax.ast import declared, is_about_edges

Kind = Literal["node", "value"]


@dataclass
class _Names:
    """The names of one scope, nested in an outer scope."""

    parent: _Names | None = None
    known: dict[str, tuple[Kind, Span]] = field(default_factory=dict)
    later: frozenset[str] = frozenset()  # all names that this body declares

    def find(self, name: str) -> Kind | None:
        scope: _Names | None = self
        while scope is not None:
            if name in scope.known:
                return scope.known[name][0]
            scope = scope.parent
        return None

    def root(self) -> _Names:
        """The outermost scope."""
        return self if self.parent is None else self.parent.root()

    def comes_later(self, name: str) -> bool:
        return name in self.later or (self.parent is not None and self.parent.comes_later(name))

    def all(self) -> set[str]:
        return set(self.known) | (self.parent.all() if self.parent else set())


def check_names(module: Module, report: Report) -> None:
    """Report problems with the names of a file."""
    checker = _Checker(module, report)
    for definition in module.own.values():
        checker.definition(definition)


class _Checker:
    def __init__(self, module: Module, report: Report) -> None:
        self.module = module
        self.report = report
        self.has_inputs = True  # whether the body has `in`, as far as is known

    def definition(self, definition: ast.Definition) -> None:
        names = _Names()
        if isinstance(definition, ast.Let):
            self.let(definition, names)
            return
        for parameter in definition.parameters:
            if parameter.default is not None:
                self.expr(parameter.default, names)
            self.declare(parameter.name, "value", names)
        if isinstance(definition, ast.SetDefinition):
            self.expr(definition.value, names)
        elif isinstance(definition, ast.Motif):
            self.exprs([*definition.inputs, *definition.outputs], names)
            self.has_inputs = any(isinstance(s, ast.In | ast.For | ast.If) for s in definition.body.statements)
            self.block(definition.body, _Names(names))

    # ---- statements

    def block(self, block: ast.StatementBlock, names: _Names) -> None:
        names.later = frozenset(name for statement in block.statements for name in declared(statement))
        for statement in block.statements:
            self.statement(statement, names)

    def statement(self, statement: ast.Statement, names: _Names) -> None:
        match statement:
            case ast.In(slots=slots):
                for slot in slots:
                    self.exprs([slot.size] if slot.size else [], names)
                    self.declare(slot.name, "node", names)
            case ast.NodeDeclaration():
                self.node(statement, names)
            case ast.EdgeStatement():
                for source in statement.sources:
                    self.source(source, names)
                for target in statement.targets:
                    self.target(target, names)
                self.exprs([statement.label] if statement.label else [], names)
            case ast.Out(values=values):
                for value in values:
                    self.source(value, names)
            case ast.OutJoin(join=join):
                self.expr(join, names)
            case ast.Let(name=name, value=value):
                self.let(statement, names)
                self.declare(name, "value" if statement.parameters is not None else self.kind(value, names), names)
            case ast.For():
                self.expr(statement.values, names)
                inner = _Names(names)
                self.declare(statement.variable, self.kind(statement.values, names), inner)
                self.block(statement.body, inner)
            case ast.If():
                self.branches(statement, names)
            case ast.Assert(condition=condition):
                self.expr(condition, names)
            case ast.Require(bound=bound):
                self.expr(bound, names)
            case ast.RequireEdges(condition=ast.Reference() as name, implied=None) if not self.is_known(name, names):
                help = "write `require params < 3.5M`, `require edges <= 9` or `require inputs(h) == 2`"
                label = Label(statement.span, "incomplete")
                self.report.add(Diagnostic("NAS001", "`require` without a budget", label, help=help))
            case ast.RequireEdges(condition=condition, implied=implied):
                self.about_edges(condition, names)
                if implied is not None:
                    self.about_edges(implied, names)

    def let(self, let: ast.Let, names: _Names) -> None:
        inner = names
        if let.parameters is not None:
            inner = _Names(names)
            if names.parent is not None:  # in a body, a function may use itself
                inner.known[let.name.name] = "value", let.name.span
            inner = _Names(inner)
            for parameter in let.parameters:
                if parameter.default is not None:
                    self.expr(parameter.default, inner)
                self.declare(parameter.name, "value", inner)
        self.expr(let.value, inner)

    def node(self, statement: ast.NodeDeclaration, names: _Names) -> None:
        inner = _Names(names)
        for slot in statement.slots:
            if slot.size is not None:
                self.expr(slot.size, names)
            self.declare(slot.name, "node", names)
            if slot.variable is not None:
                self.declare(slot.variable, "value", inner)
        for source in (*statement.sources, *statement.following):
            self.source(source, inner)
        self.exprs([statement.label] if statement.label else [], inner)

    def branches(self, statement: ast.If, names: _Names) -> None:
        branch: ast.If | ast.StatementBlock | None = statement
        while isinstance(branch, ast.If):
            self.expr(branch.condition, names)
            self.block(branch.yes, _Names(names))
            branch = branch.no
        if branch is not None:
            self.block(branch, _Names(names))

    def about_edges(self, expr: ast.Expr, names: _Names) -> None:
        """A condition of `require`, in which `edges`, `inputs` and `edge` are known."""
        match expr:
            case ast.Logical(operands=operands) | ast.Chain(operands=operands):
                for operand in operands:
                    self.about_edges(operand, names)
            case ast.Prefix(operator="not", operand=operand):
                self.about_edges(operand, names)
            case ast.Call(arguments=arguments, keywords=keywords) if is_about_edges(expr):
                self.exprs([*arguments, *(keyword.value for keyword in keywords)], names)
            case _ if not is_about_edges(expr):
                self.expr(expr, names)

    # ---- expressions

    def exprs(self, exprs: Iterable[ast.Expr], names: _Names) -> None:
        for expr in exprs:
            self.expr(expr, names)

    def expr(self, expr: ast.Expr, names: _Names) -> None:
        match expr:
            case ast.Reference():
                self.name(expr, names)
            case ast.Member():
                self.member(expr, names)
            case ast.Call():
                self.expr(expr.function, names)
                self.exprs([*expr.arguments, *(keyword.value for keyword in expr.keywords)], names)
                self.call(expr, names)
            case ast.Index(array=array, index=index):
                self.exprs([array, index], names)
            case ast.Prefix(operand=operand):
                self.expr(operand, names)
            case ast.Arithmetic(operands=operands) | ast.Logical(operands=operands) | ast.Chain(operands=operands):
                self.exprs(operands, names)
            case ast.RangeOf(start=start, stop=stop):
                self.exprs([start, stop], names)
            case ast.Conditional(condition=condition, yes=yes, no=no):
                self.exprs([condition, yes, no], names)
            case ast.Choose(limit=limit, options=options):
                self.exprs([options] if limit is None else [limit, options], names)
            case ast.Optional(operation=operation):
                self.expr(operation, names)
            case ast.Array() | ast.SetLiteral():
                self.items(expr, names)

    def items(self, expr: ast.Array | ast.SetLiteral, names: _Names) -> None:
        inner = _Names(names)
        if expr.comprehension is not None:
            for variable, values in expr.comprehension.clauses:
                self.expr(values, inner)
                self.declare(variable, self.kind(values, inner), inner)
            if expr.comprehension.condition is not None:
                self.expr(expr.comprehension.condition, inner)
        self.exprs(expr.items, inner)

    def source(self, expr: ast.Expr, names: _Names) -> None:
        """A node to read. In a body without `in`, an unknown one is probably an input, and reported once."""
        if isinstance(expr, ast.Reference) and not self.has_inputs and not self.is_known(expr, names):
            self.name(expr, names, f"declare it as an input first: `in {expr.name}`")
            names.root().known.setdefault(expr.name, ("node", expr.span))
            return
        self.expr(expr, names)

    def target(self, expr: ast.Expr | ast.OutTarget, names: _Names) -> None:
        """A node to lead an edge to. An unknown one is reported once."""
        if isinstance(expr, ast.OutTarget):
            return
        if isinstance(expr, ast.Reference) and not self.is_known(expr, names):
            self.name(expr, names, f"declare it before this: `node {expr.name}`")
            names.known.setdefault(expr.name, ("node", expr.span))
        elif not isinstance(expr, ast.Reference):
            self.expr(expr, names)
        elif names.comes_later(expr.name):
            self.name(expr, names)

    def is_known(self, expr: ast.Reference, names: _Names) -> bool:
        known = names.find(expr.name) or self.module.knows(expr.name) or expr.name in BUILTINS
        return bool(known or self.module.may_define(expr.name) or names.comes_later(expr.name))

    def name(self, expr: ast.Reference, names: _Names, otherwise: str | None = None) -> None:
        """A name that is used; `otherwise` is the help if there is nothing better to say about an unknown one."""
        known = names.find(expr.name) or self.module.knows(expr.name) or expr.name in BUILTINS
        if known or self.module.may_define(expr.name):
            return
        help: str | None
        if names.comes_later(expr.name):
            help = "it is declared below: move this after its declaration"
        elif expr.name in library_names():
            help = 'it is in the shipped library: add `import "std.nas"`'
        elif expr.name == "range":
            help = "write a range as `0..4`"
        else:
            help = self.report.suggest(expr.name, lambda: names.all() | self.module.visible() | set(BUILTINS))
            help = other_name(expr.name, self.module.knows) or help or otherwise
        self.report.add(Diagnostic("NAS101", f"unknown name `{expr.name}`", Label(expr.span, "not defined"), help=help))

    def member(self, expr: ast.Member, names: _Names) -> None:
        self.expr(expr.owner, names)
        if not isinstance(expr.owner, ast.Reference) or names.find(expr.owner.name):
            return
        alias = self.module.aliases.get(expr.owner.name)
        if alias is None or expr.name.name in alias[0].own or alias[0].may_define(expr.name.name):
            return
        file = alias[0].file.source.name
        help = self.report.suggest(expr.name.name, lambda: alias[0].own)
        label = Label(expr.name.span, "not defined there")
        self.report.add(Diagnostic("NAS101", f"`{file}` does not define `{expr.name.name}`", label, help=help))

    def call(self, expr: ast.Call, names: _Names) -> None:
        signature = self.signature(expr.function, names)
        if signature is None:
            return
        if any(self.kind(argument, names) == "node" for argument in expr.arguments):
            return  # applied to nodes: their number is checked when it is expanded
        problem = arrange(signature, expr.arguments, expr.keywords, expr.span)
        if isinstance(problem, Diagnostic):
            self.report.add(problem)

    def signature(self, function: ast.Expr, names: _Names) -> Signature | None:
        """The signature of the called definition, if it is known statically."""
        definition: ast.Definition | None = None
        if isinstance(function, ast.Reference) and names.find(function.name) is None:
            if function.name in PRIMITIVES:
                if PRIMITIVES[function.name].is_join:
                    return None  # it takes nodes, and `sum` also numbers
                return primitive_signature(PRIMITIVES[function.name])
            match = self.module.find(function.name)
            definition = match[1] if match else None
        elif isinstance(function, ast.Member) and isinstance(function.owner, ast.Reference):
            alias = self.module.aliases.get(function.owner.name)
            definition = alias[0].own.get(function.name.name) if alias else None
        if definition is None or (isinstance(definition, ast.Let) and definition.parameters is None):
            return None
        return signature_of(definition)

    def kind(self, expr: ast.Expr, names: _Names) -> Kind:
        """Return whether an expression may evaluate to nodes, as far as is known statically."""
        match expr:
            case ast.Reference(name=name):
                return names.find(name) or "value"
            case ast.Index(array=array):
                return self.kind(array, names)
            case ast.Call(function=function, arguments=arguments):
                inside = (self.kind(argument, names) for argument in arguments)
                return "node" if isinstance(function, ast.Call) or "node" in inside else "value"
            case ast.Conditional(yes=yes, no=no):
                return "node" if "node" in (self.kind(yes, names), self.kind(no, names)) else "value"
            case ast.Array(items=items, comprehension=None):
                return "node" if any(self.kind(item, names) == "node" for item in items) else "value"
            case ast.Array():
                return "node"  # a comprehension may collect anything
            case _:
                return "value"

    def declare(self, name: ast.Identifier, kind: Kind, names: _Names) -> None:
        before = names.known.get(name.name)
        if before is None:
            names.known[name.name] = kind, name.span
            return
        first = Label(before[1], "first defined here")
        label = Label(name.span, "defined again")
        self.report.add(Diagnostic("NAS102", f"`{name.name}` is defined twice", label, (first,), "rename one of them"))
