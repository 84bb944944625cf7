"""Displays: how runs are shown on a terminal and in plain lines."""
