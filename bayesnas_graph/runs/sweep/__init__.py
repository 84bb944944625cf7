"""Sweeps: grids of searches, on local devices or on a cluster, compared in a table."""
