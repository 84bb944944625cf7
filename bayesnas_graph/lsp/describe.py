"""What a name stands for, in words: its signature and its documentation."""

from __future__ import annotations

from dataclasses import dataclass

from bayesnas_graph.ir.ops import PRIMITIVES
from bayesnas_graph.language.elaborate.builtins import BUILTINS
from bayesnas_graph.language.elaborate.occurrences import Declaration
from bayesnas_graph.language.elaborate.vocabulary import definition_signature, primitive_doc, primitive_text
from bayesnas_graph.language.syntax import ast

LONGEST_VALUE = 200  # characters of a value that is shown


@dataclass(frozen=True, slots=True)
class Description:
    """A line of the language, and text about it."""

    code: str
    doc: str = ""


def describe(declaration: Declaration) -> Description:
    """What a declaration is."""
    name, definition = declaration.name, declaration.definition
    match declaration.role:
        case "primitive":
            return Description(primitive_text(PRIMITIVES[name]), primitive_doc(PRIMITIVES[name]))
        case "function":
            return Description(*BUILTINS[name])
        case "definition" | "let" if definition is not None:
            return Description(header(definition), definition.doc)
        case "parameter" if definition is not None:
            text = next((p.span.text for p in definition.parameters or () if p.name.name == name), name)
            return Description(text, f"A parameter of `{definition.name.name}`.")
        case "argument":
            return Description(name, _argument(declaration))
        case "file" if declaration.module is not None:
            path = declaration.module.path
            return Description(f'import "{path.name}"' if path else name, declaration.module.file.doc)
        case "input":
            return Description(f"in {name}")
        case "node":
            return Description(f"node {name}")
        case "share":
            return Description(f"share {name}", "An operation with one set of weights for all its uses.")
        case "variable":
            return Description(name, "A variable of a loop.")
        case "candidate":
            return Description(name, "The name of a candidate.")
        case _:
            return Description(name)


def header(definition: ast.Definition) -> str:
    """The first line of a definition."""
    signature = definition_signature(definition)
    match definition:
        case ast.Let(value=value):
            return f"let {signature} = {_short(value.span.text)}"
        case ast.SetDefinition(value=value):
            return f"set {signature} = {_short(value.span.text)}"
        case ast.PythonOperation(target=target):
            return f'op {signature} from "{target}"'
        case ast.Motif(role="network", inputs=inputs, outputs=outputs):
            takes, gives = (", ".join(type.span.text for type in types) for types in (inputs, outputs))
            return f"network {signature} : {takes} -> {gives}"
        case ast.Motif(role=role):
            return f"{role} {signature}"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_VALUE else f"{line[: LONGEST_VALUE - 3]}..."


def _argument(declaration: Declaration) -> str:
    argument = PRIMITIVES[declaration.owner].arguments()[declaration.name]
    kind = {"integer": "a whole number", "rational": "a number", "boolean": "true or false"}[argument.kind]
    words = "".join(f', or `"{word}"`' for word in argument.words)
    bounds = [f"at least {argument.minimum}"] if argument.minimum is not None else []
    bounds += [f"at most {argument.maximum}"] if argument.maximum is not None else []
    return f"An argument of `{declaration.owner}`: {kind}{', ' if bounds else ''}{' and '.join(bounds)}{words}."
