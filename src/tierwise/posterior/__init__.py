"""The posterior of tiers, sizes and theta: chains, and exact draws where these are affordable."""

from tierwise.posterior.diagnostics import Diagnostic, Diagnostics
from tierwise.posterior.result import Posterior
from tierwise.posterior.run import sample_posterior

__all__ = ["Diagnostic", "Diagnostics", "Posterior", "sample_posterior"]
