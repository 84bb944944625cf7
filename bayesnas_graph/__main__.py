"""`python -m bayesnas_graph`."""

from bayesnas_graph.cli.main import main

if __name__ == "__main__":
    main()
