"""The search itself: what is computed from gates, curvatures and the graph."""

from bayesnas_graph.bayes.dependency import Structure, one_hop, whole_path

__all__ = ["Structure", "one_hop", "whole_path"]
