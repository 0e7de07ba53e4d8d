"""What is estimated beside worths: the advantage of the first place, and the chance of a draw.

Both are factors, in the logarithm of which the likelihood is concave: see
`tierwise.answers.meetings`. A priori, what they say of two equal items is a Beta variable: the
share of battles that the first wins is Beta(5, 5), between 21% and 79% with a probability of 95%,
and the share of draws is uniform.
"""

from __future__ import annotations

from math import lgamma, log
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


def log_prior_of_effects(
    names: Sequence[EffectName], log_effects: Floats
) -> tuple[Floats, Floats, Floats]:
    """Log prior density of log effects, its slopes and minus its bends.

    Parameters
    ----------
    names
        Which effects there are.
    log_effects
        Their logarithms, along the last axis.

    Examples
    --------
    >>> value, slope, _ = log_prior_of_effects(["draws"], np.log([2.0]))
    >>> round(float(np.exp(value)), 3), slope.tolist()  # the logistic density at its middle
    (0.25, [0.0])
    """
    shapes = np.array([PRIORS[name].shape for name in names])
    middles = np.array([log(PRIORS[name].middle) for name in names])
    constant = sum(2.0 * lgamma(shape) - lgamma(2.0 * shape) for shape in shapes.tolist())
    above = log_effects - middles
    share = 1.0 / (1.0 + np.exp(-above))
    density = -(shapes * (np.logaddexp(0.0, above) + np.logaddexp(0.0, -above))).sum(axis=-1)
    slope = shapes * (1.0 - 2.0 * share)
    return np.asarray(density - constant), slope, 2.0 * shapes * share * (1.0 - share)
