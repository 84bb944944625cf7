"""A language server: what editors ask about a text, and a server that answers.

Every answer is a function of a text that was read (`reading.py`) and a position in it; `server.py` only passes them on.
"""
