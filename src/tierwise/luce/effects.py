"""What is estimated beside worths: the advantage of the first place, and the chance of a draw.

Both are factors, in the logarithm of which the likelihood is concave: see
`tierwise.answers.meetings`. A priori, what they say of two equal items is a Beta variable: the
share of battles that the first wins is Beta(5, 5), between 21% and 79% with a probability of 95%,
and the share of draws is uniform.
"""

from __future__ import annotations

from math import lgamma
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tierwise.answers.meetings import EffectName, Floats


class EffectPrior(NamedTuple):
    """Prior of an effect: its factor divided by a middle is the odds of a symmetric Beta variable.

    Attributes
    ----------
    shape
        Both parameters of the Beta distribution.
    middle
        The factor at which that variable is one half.
    """

    shape: float
    middle: float


PRIORS: dict[EffectName, EffectPrior] = {
    "position": EffectPrior(5.0, 1.0),
    # Two equal items draw in half of their battles if the factor is 2.
    "draws": EffectPrior(1.0, 2.0),
}


def log_prior_of_effects(names: Sequence[EffectName], log_effects: Floats) -> Floats:
    """Log prior density of log effects.

    Parameters
    ----------
    names
        Which effects there are.
    log_effects
        Their logarithms, along the last axis.

    Examples
    --------
    >>> value = log_prior_of_effects(["draws"], np.log([2.0]))
    >>> round(float(np.exp(value)), 3)  # the logistic density at its middle
    0.25
    """
    shapes = np.array([PRIORS[name].shape for name in names])
    above = log_effects - np.log([PRIORS[name].middle for name in names])
    density = -(shapes * (np.logaddexp(0.0, above) + np.logaddexp(0.0, -above))).sum(axis=-1)
    return np.asarray(density + log_constant_of_effects(names))


def log_constant_of_effects(names: Sequence[EffectName]) -> float:
    """Log of what the prior density of log effects has in front."""
    shapes = [PRIORS[name].shape for name in names]
    return sum(lgamma(2.0 * shape) - 2.0 * lgamma(shape) for shape in shapes)
