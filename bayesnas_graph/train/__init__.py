"""Training runs: the weights of a network without choices."""
