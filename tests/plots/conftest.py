"""Results to draw: four items with the real methods, 25 items with labels made up."""

from dataclasses import dataclass

import numpy as np
import pytest

import tierwise as tw
from tierwise.posterior.run import sample_posterior


@dataclass(frozen=True)
class MadeUpLabels:
    """Tiers many times over, as a bootstrap has them."""

    items: tuple
    labels: np.ndarray

    @property
    def thetas(self):
        return np.linspace(0.4, 0.6, len(self.labels))

    def tier_probabilities(self):
        numbers = np.arange(1, self.labels.max() + 1)
        return (self.labels[:, :, None] == numbers).mean(axis=0)

    def co_tier_probabilities(self):
        return (self.labels[:, :, None] == self.labels[:, None, :]).mean(axis=0)


@pytest.fixture(scope="session")
def goals():
    return tw.load_political_goals()


@pytest.fixture(scope="session")
def fit(goals):
    return tw.fit(goals, (2, 2))


@pytest.fixture(scope="session")
def bootstrap(goals, fit):
    return tw.bootstrap(goals, fit, replicates=30, rng=1)


@pytest.fixture(scope="session")
def found(goals):
    return tw.search(goals, distance="kendall", criterion="likelihood")


@pytest.fixture(scope="session")
def check(goals, fit):
    return tw.check_fit(goals, fit)


@pytest.fixture(scope="session")
def posterior(goals):
    return sample_posterior(goals, (2, 2), chains=3, draws=100, rng=1)


@pytest.fixture(scope="session")
def many_tiers():
    names = [f"A rather long name {number:02d}" for number in range(1, 26)]
    return tw.Tiers.from_sizes((1, 1, 1, 2, 3, 2, 15), names)


@pytest.fixture(scope="session")
def many_rankings(many_tiers):
    return tw.ClusteredMallows(many_tiers, theta=0.2).sample(60, rng=1)


@pytest.fixture(scope="session")
def many_sampled(many_tiers):
    rng = np.random.default_rng(1)
    labels = np.array([rng.permutation(many_tiers.labels) for _ in range(20)])
    return MadeUpLabels(many_tiers.items, labels)
