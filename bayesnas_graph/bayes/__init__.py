"""The Bayesian search: functions of gates, curvatures and the graph."""

from bayesnas_graph.bayes.curvature import Curvature, curvature
from bayesnas_graph.bayes.decision import Decision, Location, Verdict, Why, decide, verdicts
from bayesnas_graph.bayes.dependency import DEPENDENCIES, Structure, independent, one_hop, whole_path
from bayesnas_graph.bayes.entropy import THRESHOLD, entropy, keep
from bayesnas_graph.bayes.gauge import Gauge, in_gauge, rescale
from bayesnas_graph.bayes.improvement import expected_improvement, predict, swaps
from bayesnas_graph.bayes.losses import BinaryCrossEntropy, CrossEntropy, Loss, PixelCrossEntropy, SquaredError
from bayesnas_graph.bayes.proximal import (
    block_soft_threshold,
    can_close,
    penalty,
    proximal_step,
    shrink_budget,
    soft_threshold,
    weighted_soft_threshold,
)
from bayesnas_graph.bayes.ranking import magnitude, relevance, removal, score
from bayesnas_graph.bayes.repair import (
    close_dead_ends,
    enforce_limits,
    grow_to_fit,
    keep_enough,
    meet_requirements,
    reconnect,
    shrink_to_fit,
    with_kept,
)
from bayesnas_graph.bayes.switches import Switches
from bayesnas_graph.bayes.units import contributions
from bayesnas_graph.bayes.update import LARGEST, State, omega_squared, posterior_variance, strength, update
from bayesnas_graph.bayes.weights import weight_curvature
from bayesnas_graph.bayes.worth import (
    LOOKS,
    Looks,
    Worth,
    add_look,
    errors_of,
    evidence,
    faded,
    for_size,
    in_units,
    no_looks,
    off_below,
    with_best_kept,
    worth,
)
from bayesnas_graph.ir.literals import Estimator, Ranking, Reach

__all__ = [
    "DEPENDENCIES",
    "LARGEST",
    "LOOKS",
    "THRESHOLD",
    "BinaryCrossEntropy",
    "CrossEntropy",
    "Curvature",
    "Decision",
    "Estimator",
    "Gauge",
    "Location",
    "Looks",
    "Loss",
    "PixelCrossEntropy",
    "Ranking",
    "Reach",
    "SquaredError",
    "State",
    "Structure",
    "Switches",
    "Verdict",
    "Why",
    "Worth",
    "add_look",
    "block_soft_threshold",
    "can_close",
    "close_dead_ends",
    "contributions",
    "curvature",
    "decide",
    "enforce_limits",
    "entropy",
    "errors_of",
    "evidence",
    "expected_improvement",
    "faded",
    "for_size",
    "grow_to_fit",
    "in_gauge",
    "in_units",
    "independent",
    "keep",
    "keep_enough",
    "magnitude",
    "meet_requirements",
    "no_looks",
    "off_below",
    "omega_squared",
    "one_hop",
    "penalty",
    "posterior_variance",
    "predict",
    "proximal_step",
    "reconnect",
    "relevance",
    "removal",
    "rescale",
    "score",
    "shrink_budget",
    "shrink_to_fit",
    "soft_threshold",
    "strength",
    "swaps",
    "update",
    "verdicts",
    "weight_curvature",
    "weighted_soft_threshold",
    "whole_path",
    "with_best_kept",
    "with_kept",
    "worth",
]
