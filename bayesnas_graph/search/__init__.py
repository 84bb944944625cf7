"""Searches: the loop, its strategies, measurements and decisions."""
