"""The settings of every kind of run. Loads no torch."""
