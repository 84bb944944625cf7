"""A graph as a program: Python source, text of the language, and the supernet that is trained."""
