"""Searches: training, updates of the prior, checkpoints, runs."""
