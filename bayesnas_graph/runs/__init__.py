"""What every run has in common: its folder, settings, device, checkpoints and tables, and reading them back."""
