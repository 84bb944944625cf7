"""Networks for the world outside: source, weights, and the formats of other tools."""

from bayesnas_graph.export.model import Model, model_of, model_of_network

__all__ = ["Model", "model_of", "model_of_network"]
