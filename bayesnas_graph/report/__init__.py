"""What runs have done, as one page for a browser."""
