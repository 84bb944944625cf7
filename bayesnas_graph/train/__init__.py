"""Trainings: the weights of a network without choices, from random ones to those that are kept."""
