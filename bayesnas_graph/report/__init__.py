"""Pictures of networks: a page of panels, drawn as SVG or written as text for other tools."""

from bayesnas_graph.report.diagram import Box, Choice, Diagram, Panel, Strand, Wire
from bayesnas_graph.report.dot import dot_text
from bayesnas_graph.report.mermaid import mermaid_text
from bayesnas_graph.report.page import Page, lay_out
from bayesnas_graph.report.panels import diagram_of
from bayesnas_graph.report.png import NoConverter, png_bytes
from bayesnas_graph.report.svg import svg_text

__all__ = [
    "Box",
    "Choice",
    "Diagram",
    "NoConverter",
    "Page",
    "Panel",
    "Strand",
    "Wire",
    "diagram_of",
    "dot_text",
    "lay_out",
    "mermaid_text",
    "png_bytes",
    "svg_text",
]
