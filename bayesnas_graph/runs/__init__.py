"""What all runs have in common: folders, settings, devices, training loop, checkpoints, tables, and reading them."""
