"""Structured compression: groups of weights go, and the network gets smaller with them."""
