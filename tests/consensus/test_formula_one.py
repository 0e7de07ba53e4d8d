"""Formula 1, 2015 and 2016: 25 drivers, finishers listed, everybody else below."""

import csv
from collections import Counter, defaultdict

import numpy as np
import pytest

from tests.data_paths import shared_data
from tierwise.consensus.find import find_consensus
from tierwise.distances import Costs

SIZES = (1, 1, 1, 2, 3, 2, 15)
TIERS = [
    {"lewis-hamilton"},
    {"nico-rosberg"},
    {"sebastian-vettel"},
    {"kimi-raikkonen", "daniel-ricciardo"},
    {"valtteri-bottas", "max-verstappen", "sergio-perez"},
    {"nico-hulkenberg", "felipe-massa"},
]


@pytest.fixture(scope="module")
def races():
    """Drivers with more than ten entries, and how often each is in a better block than another."""
    with (shared_data("f1") / "f1db_2015_2016_results.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    entries = Counter(row["driverId"] for row in rows)
    drivers = sorted(driver for driver, count in entries.items() if count > 10)
    finishers = defaultdict(list)
    for row in rows:
        if row["positionText"].isdigit() and row["driverId"] in drivers:
            place = int(row["positionText"])
            finishers[row["year"], row["round"]].append((place, drivers.index(row["driverId"])))
    block_of_place = np.repeat(np.arange(len(SIZES)), SIZES)
    pairs = np.zeros((len(drivers), len(drivers)))
    for race in finishers.values():
        block = np.full(len(drivers), len(SIZES) - 1)
        for place, (_, driver) in enumerate(sorted(race)):
            block[driver] = block_of_place[place]
        pairs += block[:, None] < block[None, :]
    assert (len(drivers), len(finishers)) == (25, 40)
    return drivers, Costs(np.empty((0, 0)), pairs)


@pytest.mark.thorough
@pytest.mark.parametrize("method", ["auto", "milp"])
def test_the_best_tiers_are_proved_and_unique(races, method):
    drivers, costs = races
    found = find_consensus(costs, SIZES, method=method, rng=1)
    assert found.method == {"auto": "subsets", "milp": "milp"}[method]
    assert found.optimal
    assert (found.total, found.n_optima) == (2070.0, 1)
    for tier, members in enumerate(TIERS):
        assert {drivers[item] for item in np.flatnonzero(found.labels == tier)} == members


def test_annealing_finds_them(races):
    _, costs = races
    found = find_consensus(costs, SIZES, method="annealing", rng=1)
    assert found.total == 2070.0
    assert found.bound == 2062.0
