"""Theta of given tiers under inversions, one for all or one per tier, in the words of the tests."""

from math import lgamma

import numpy as np

from tierwise.answers.curves import CurveOfLines
from tierwise.theta.estimate import estimates_of_thetas


def log_likelihood(counts, labels, theta):
    curve = CurveOfLines.of(counts, labels)
    return curve.derivatives(np.broadcast_to(theta, curve.n_thetas)).value


def estimate_one_theta(counts, labels, *, level=0.95):
    curve = CurveOfLines.of(counts, labels).with_one_theta()
    return estimates_of_thetas(curve, level=level)[0]


def estimate_line_thetas(counts, labels, *, level=0.95):
    return estimates_of_thetas(CurveOfLines.of(counts, labels), level=level)


def criterion_of(counts, labels, theta):
    """Log-likelihood less the log number of tiers of these sizes."""
    sizes = np.bincount(labels).tolist()
    log_number = lgamma(len(labels) + 1) - sum(lgamma(size + 1) for size in sizes)
    return log_likelihood(counts, labels, theta) - log_number
