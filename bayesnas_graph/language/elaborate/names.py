"""Static checks: names are defined, and only once per scope; calls have matching arguments.

They need no values, so they also cover motifs that no network uses.
"""

from __future__ import annotations

from collections.abc import Iterable

from bayesnas_graph.diagnostics import Diagnostic, Fix, Label, Report, suggestion
from bayesnas_graph.diagnostics.source import Span
from bayesnas_graph.ir.ops import PRIMITIVES
from bayesnas_graph.ir.ops.plugins import is_plugin_op
from bayesnas_graph.language.elaborate.arguments import Signature, arrange, primitive_signature, signature_of
from bayesnas_graph.language.elaborate.builtins import BUILTINS
from bayesnas_graph.language.elaborate.declared_names import DeclaredNames, Kind
from bayesnas_graph.language.elaborate.files import Module
from bayesnas_graph.language.elaborate.library import library_names
from bayesnas_graph.language.elaborate.occurrences import (
    Declaration,
    NamesInScope,
    Occurrence,
    Occurrences,
    Role,
    alias_of,
    defined_as,
    parameter_of,
)
from bayesnas_graph.language.elaborate.other_names import other_name
from bayesnas_graph.language.syntax import ast
from bayesnas_graph.language.syntax.ast import declared, is_about_edges


def check_names(module: Module, report: Report, occurrences: Occurrences | None = None) -> None:
    """Report problems with the names of a file, and collect the names if asked to."""
    checker = _Checker(module, report, occurrences)
    for imported, item in module.files:
        checker.imported(imported, item)
    for definition in module.file.definitions:
        if module.own.get(definition.name.name) is definition:
            checker.definition(definition)


class _Checker:
    def __init__(self, module: Module, report: Report, occurrences: Occurrences | None = None) -> None:
        self.module = module
        self.report = report
        self.occurrences = occurrences
        self.has_inputs = True  # whether the body has `in`, as far as is known

    def imported(self, imported: Module, item: ast.Import) -> None:
        self.note(item.path_span, item.path, Declaration(item.path, "file", item.path_span, module=imported))
        if item.alias is not None:
            self.note(item.alias.span, item.alias.name, alias_of(item.alias, imported))

    def definition(self, definition: ast.Definition) -> None:
        names = self.scope(None, definition.span)
        self.note(definition.name.span, definition.name.name, defined_as(definition))
        if isinstance(definition, ast.Let):
            self.let(definition, names)
            return
        for parameter in definition.parameters:
            if parameter.default is not None:
                self.expr(parameter.default, names)
            self.declare(parameter.name, "value", names, "parameter", definition)
        if isinstance(definition, ast.SetDefinition):
            self.expr(definition.value, names)
        elif isinstance(definition, ast.Motif):
            self.exprs([*definition.inputs, *definition.outputs], names)
            self.has_inputs = any(isinstance(s, ast.In | ast.For | ast.If) for s in definition.body.statements)
            self.block(definition.body, self.scope(names, definition.body.span))

    def scope(self, outer: DeclaredNames | None, span: Span) -> DeclaredNames:
        """A new scope for a part of the text."""
        names = DeclaredNames(outer)
        if self.occurrences is not None:
            self.occurrences.scopes.append(NamesInScope(span, names.known))
        return names

    def note(self, span: Span, name: str, declaration: Declaration | None) -> None:
        """Collect a name in the text."""
        if self.occurrences is not None:
            self.occurrences.names.append(Occurrence(span, name, declaration))

    # ---- statements

    def block(self, block: ast.StatementBlock, names: DeclaredNames) -> None:
        names.later = frozenset(name for statement in block.statements for name in declared(statement))
        for statement in block.statements:
            self.statement(statement, names)

    def statement(self, statement: ast.Statement, names: DeclaredNames) -> None:
        match statement:
            case ast.In(slots=slots):
                for slot in slots:
                    self.exprs([slot.size] if slot.size else [], names)
                    self.declare(slot.name, "node", names, "input")
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
                kind = "value" if statement.parameters is not None else self.kind(value, names)
                self.declare(name, kind, names, "let", statement)
            case ast.Share(name=name, operation=operation):
                self.expr(operation, names)
                self.declare(name, "value", names, "share")
            case ast.For():
                self.expr(statement.values, names)
                inner = self.scope(names, statement.span)
                self.declare(statement.variable, self.kind(statement.values, names), inner, "variable")
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

    def let(self, let: ast.Let, names: DeclaredNames) -> None:
        inner = names
        if let.parameters is not None:
            inner = self.scope(names, let.span)
            if names.parent is not None:  # in a body, a function may use itself
                inner.add(Declaration(let.name.name, "let", let.name.span, let), "value")
            inner = self.scope(inner, let.span)
            for parameter in let.parameters:
                if parameter.default is not None:
                    self.expr(parameter.default, inner)
                self.declare(parameter.name, "value", inner, "parameter", let)
        self.expr(let.value, inner)

    def node(self, statement: ast.NodeDeclaration, names: DeclaredNames) -> None:
        inner = self.scope(names, statement.span)
        for slot in statement.slots:
            if slot.size is not None:
                self.expr(slot.size, names)
            self.declare(slot.name, "node", names, "node")
            if slot.variable is not None:
                self.declare(slot.variable, "value", inner, "variable")
        for source in (*statement.sources, *statement.following):
            self.source(source, inner)
        self.exprs([statement.label] if statement.label else [], inner)

    def branches(self, statement: ast.If, names: DeclaredNames) -> None:
        branch: ast.If | ast.StatementBlock | None = statement
        while isinstance(branch, ast.If):
            self.expr(branch.condition, names)
            self.block(branch.yes, self.scope(names, branch.yes.span))
            branch = branch.no
        if branch is not None:
            self.block(branch, self.scope(names, branch.span))

    def about_edges(self, expr: ast.Expr, names: DeclaredNames) -> None:
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

    def exprs(self, exprs: Iterable[ast.Expr], names: DeclaredNames) -> None:
        for expr in exprs:
            self.expr(expr, names)

    def expr(self, expr: ast.Expr, names: DeclaredNames) -> None:
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

    def items(self, expr: ast.Array | ast.SetLiteral, names: DeclaredNames) -> None:
        inner = names if expr.comprehension is None else self.scope(names, expr.span)
        if isinstance(expr, ast.SetLiteral):
            for label in expr.names:
                if label is not None:
                    self.note(label.span, label.name, Declaration(label.name, "candidate", label.span))
        if expr.comprehension is not None:
            for variable, values in expr.comprehension.clauses:
                self.expr(values, inner)
                self.declare(variable, self.kind(values, inner), inner, "variable")
            if expr.comprehension.condition is not None:
                self.expr(expr.comprehension.condition, inner)
        self.exprs(expr.items, inner)

    def source(self, expr: ast.Expr, names: DeclaredNames) -> None:
        """A node to read. In a body without `in`, an unknown one is probably an input, and reported once."""
        if isinstance(expr, ast.Reference) and not self.has_inputs and not self.is_known(expr, names):
            self.name(expr, names, f"declare it as an input first: `in {expr.name}`")
            names.root().add(Declaration(expr.name, "node", expr.span), "node")
            return
        self.expr(expr, names)

    def target(self, expr: ast.Expr | ast.OutTarget, names: DeclaredNames) -> None:
        """A node to lead an edge to. An unknown one is reported once."""
        if isinstance(expr, ast.OutTarget):
            return
        if isinstance(expr, ast.Reference) and not self.is_known(expr, names):
            self.name(expr, names, f"declare it before this: `node {expr.name}`")
            names.add(Declaration(expr.name, "node", expr.span), "node")
        elif not isinstance(expr, ast.Reference):
            self.expr(expr, names)
        elif names.comes_later(expr.name):
            self.name(expr, names)
        else:
            self.note(expr.span, expr.name, self.declaration(expr.name, names))

    def is_known(self, expr: ast.Reference, names: DeclaredNames) -> bool:
        known = names.find(expr.name) or self.module.knows(expr.name) or expr.name in BUILTINS
        return bool(known or self.module.may_define(expr.name) or names.comes_later(expr.name))

    def name(self, expr: ast.Reference, names: DeclaredNames, otherwise: str | None = None) -> None:
        """A name that is used; `otherwise` is the help if there is nothing better to say about an unknown one."""
        if self.occurrences is not None:
            self.note(expr.span, expr.name, self.declaration(expr.name, names))
        known = names.find(expr.name) or self.module.knows(expr.name) or expr.name in BUILTINS
        if known or self.module.may_define(expr.name) or is_plugin_op(expr.name):
            return
        help: str | None
        fix: Fix | None = None
        if names.comes_later(expr.name):
            help = "it is declared below: move this after its declaration"
        elif expr.name in library_names():
            help = 'it is in the shipped library: add `import "std.nas"`'
        elif expr.name == "range":
            help = "write a range as `0..4`"
        else:
            near = self.report.nearest_name(expr.name, lambda: names.all() | self.module.visible() | set(BUILTINS))
            other = other_name(expr.name, self.module.knows)
            help = (other.help if other else suggestion(near)) or otherwise
            replacement = other.replacement if other else near
            fix = Fix(expr.span, replacement) if replacement else None
        label = Label(expr.span, "not defined")
        self.report.add(Diagnostic("NAS101", f"unknown name `{expr.name}`", label, help=help, fix=fix))

    def declaration(self, name: str, names: DeclaredNames) -> Declaration | None:
        """What a name stands for; None if it is unknown."""
        local = names.declaration(name)
        if local is not None:
            return local
        match = self.module.find(name)
        if match is not None:
            return defined_as(match[1])
        if name in self.module.aliases:
            module, item = self.module.aliases[name]
            return alias_of(item.alias, module) if item.alias else None
        if name in PRIMITIVES:
            return Declaration(name, "primitive")
        return Declaration(name, "function") if name in BUILTINS else None

    def member(self, expr: ast.Member, names: DeclaredNames) -> None:
        self.expr(expr.owner, names)
        if not isinstance(expr.owner, ast.Reference) or names.find(expr.owner.name):
            return
        alias = self.module.aliases.get(expr.owner.name)
        definition = alias[0].own.get(expr.name.name) if alias else None
        self.note(expr.name.span, expr.name.name, defined_as(definition) if definition else None)
        if alias is None or expr.name.name in alias[0].own or alias[0].may_define(expr.name.name):
            return
        file = alias[0].file.source.name
        near = self.report.nearest_name(expr.name.name, lambda: alias[0].own)
        label = Label(expr.name.span, "not defined there")
        fix = Fix(expr.name.span, near) if near else None
        message = f"`{file}` does not define `{expr.name.name}`"
        self.report.add(Diagnostic("NAS101", message, label, help=suggestion(near), fix=fix))

    def call(self, expr: ast.Call, names: DeclaredNames) -> None:
        if self.occurrences is not None:
            called = self.called(expr.function, names)
            for keyword in expr.keywords:
                self.note(keyword.name.span, keyword.name.name, called and parameter_of(called, keyword.name.name))
        signature = self.signature(expr.function, names)
        if signature is None:
            return
        if any(self.kind(argument, names) == "node" for argument in expr.arguments):
            return  # applied to nodes: their number is checked when it is expanded
        problem = arrange(signature, expr.arguments, expr.keywords, expr.span)
        if isinstance(problem, Diagnostic):
            self.report.add(problem)

    def called(self, function: ast.Expr, names: DeclaredNames) -> Declaration | None:
        """What is called, if it is known statically."""
        if isinstance(function, ast.Reference):
            return self.declaration(function.name, names)
        if isinstance(function, ast.Member) and isinstance(function.owner, ast.Reference):
            alias = self.module.aliases.get(function.owner.name)
            definition = alias[0].own.get(function.name.name) if alias else None
            return defined_as(definition) if definition else None
        return None

    def signature(self, function: ast.Expr, names: DeclaredNames) -> Signature | None:
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

    def kind(self, expr: ast.Expr, names: DeclaredNames) -> Kind:
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

    def declare(
        self,
        name: ast.Identifier,
        kind: Kind,
        names: DeclaredNames,
        role: Role,
        definition: ast.Definition | None = None,
    ) -> None:
        before = names.known.get(name.name)
        declaration = Declaration(name.name, role, name.span, definition)
        self.note(name.span, name.name, declaration)
        if before is None:
            names.add(declaration, kind)
            return
        first = Label(before.span or name.span, "first defined here")
        label = Label(name.span, "defined again")
        self.report.add(Diagnostic("NAS102", f"`{name.name}` is defined twice", label, (first,), "rename one of them"))
