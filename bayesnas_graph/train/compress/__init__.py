"""Structured compression: groups of weights are removed, and the network shrinks."""
