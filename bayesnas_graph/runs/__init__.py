"""Shared by all runs: folders, settings, devices, the training loop, checkpoints, tables, and reading them back."""
