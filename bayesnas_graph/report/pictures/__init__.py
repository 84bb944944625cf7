"""Pictures of networks: a page of panels, drawn as SVG or written as text for other tools."""

from bayesnas_graph.report.pictures.alike import merge_alike
from bayesnas_graph.report.pictures.convert import Picture, converted
from bayesnas_graph.report.pictures.decided import prune_diagram, prune_panel
from bayesnas_graph.report.pictures.diagram import Box, Diagram, DrawnChoice, Panel, Strand, Wire
from bayesnas_graph.report.pictures.dot import dot_text
from bayesnas_graph.report.pictures.figure import Ink, figure_of, ink
from bayesnas_graph.report.pictures.graph import diagram_of_graph
from bayesnas_graph.report.pictures.mermaid import mermaid_text
from bayesnas_graph.report.pictures.movie import Movie, Scene, movie_of
from bayesnas_graph.report.pictures.page import Page, lay_out
from bayesnas_graph.report.pictures.panels import diagram_of
from bayesnas_graph.report.pictures.style import Theme, rules
from bayesnas_graph.report.pictures.svg import panel_svg, svg_text

__all__ = [
    "Box",
    "Diagram",
    "DrawnChoice",
    "Ink",
    "Movie",
    "Page",
    "Panel",
    "Picture",
    "Scene",
    "Strand",
    "Theme",
    "Wire",
    "converted",
    "diagram_of",
    "diagram_of_graph",
    "dot_text",
    "figure_of",
    "ink",
    "lay_out",
    "merge_alike",
    "mermaid_text",
    "movie_of",
    "panel_svg",
    "prune_diagram",
    "prune_panel",
    "rules",
    "svg_text",
]
