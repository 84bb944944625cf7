"""Searches: the loop, its strategies, and what they measure and decide."""
