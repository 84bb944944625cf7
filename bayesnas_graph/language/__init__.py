"""The language: text to syntax tree to graph, and the other notations of graphs."""
