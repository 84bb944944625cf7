"""Neural-architecture search spaces as text, and their compiler."""

__version__ = "0.1.0"
