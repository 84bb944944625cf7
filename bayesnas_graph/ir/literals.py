"""Names of methods that settings choose between. They are here so that settings can be read without loading torch."""

from __future__ import annotations

from typing import Literal

Estimator = Literal["exact", "ggn", "fisher", "empirical", "recursive", "mean"]  # of curvature
Ranking = Literal["gamma", "relevance", "removal", "magnitude"]
Reach = Literal["none", "one_hop", "whole_path"]  # of a closed switch
