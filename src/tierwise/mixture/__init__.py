"""Several populations: groups of people, each with its own tiers."""

from tierwise.mixture.draws import MixtureDraws
from tierwise.mixture.estimation import fit_mixture
from tierwise.mixture.result import Group, Mixture
from tierwise.mixture.sampling import sample_mixture
from tierwise.mixture.selection import Scores

__all__ = ["Group", "Mixture", "MixtureDraws", "Scores", "fit_mixture", "sample_mixture"]
