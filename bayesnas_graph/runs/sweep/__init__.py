"""Sweeps: grids of searches, on local devices or on a cluster, side by side in a table."""
