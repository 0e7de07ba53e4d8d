"""Genetic search: size vectors as sets of cuts between places, crossed and mutated."""

import numpy as np
from numpy.typing import NDArray

from tierwise.searching.exploration import Exploration
from tierwise.searching.size_space import between_cuts
from tierwise.tiers.sizes import Sizes

POPULATION = 30
# The best of a generation that live on unchanged.
SURVIVORS = 4
# Of so many parents drawn at random the best one is taken.
CONTESTANTS = 3
# Generations without a new best after which the search ends.
PATIENCE = 10

Cuts = NDArray[np.bool_]


def evolve(exploration: Exploration, start: Sizes) -> None:
    """Let a population of size vectors evolve, of which one is the start."""
    population = _first_generation(exploration, start)
    best, generations_since_best = start, 0
    while generations_since_best < PATIENCE:
        exploration.evaluate(population, f"genetic search, generation {len(exploration.path) + 1}")
        ranked = sorted(population, key=exploration.order)
        exploration.step_to(ranked[0])
        generations_since_best += 1
        if exploration.order(ranked[0]) < exploration.order(best):
            best, generations_since_best = ranked[0], 0
        children = [_child(exploration, ranked) for _ in range(POPULATION - SURVIVORS)]
        population = list(dict.fromkeys([*ranked[:SURVIVORS], *children]))


def _first_generation(exploration: Exploration, start: Sizes) -> list[Sizes]:
    """Return the start and random size vectors."""
    n_places = max(exploration.space.n_free - 1, 0)
    drawn = [
        _from_cuts(exploration, exploration.rng.random(n_places) < exploration.rng.random())
        for _ in range(POPULATION - 1)
    ]
    return list(dict.fromkeys([start, *drawn]))


def _child(exploration: Exploration, ranked: list[Sizes]) -> Sizes:
    """Take each cut from one of two good parents, and change about one of them."""
    rng = exploration.rng
    first, second = (
        _to_cuts(exploration, ranked[int(rng.integers(len(ranked), size=CONTESTANTS).min())])
        for _ in range(2)
    )
    cuts = np.where(rng.random(len(first)) < 0.5, first, second)
    mutated = rng.random(len(cuts)) < 1 / max(len(cuts), 1)
    return _from_cuts(exploration, cuts ^ mutated)


def _to_cuts(exploration: Exploration, sizes: Sizes) -> Cuts:
    """Tell for each place between two free items whether there is a cut."""
    cuts = np.zeros(max(exploration.space.n_free - 1, 0), dtype=np.bool_)
    cuts[np.cumsum(exploration.space.middle(sizes), dtype=np.int64)[:-1] - 1] = True
    return cuts


def _from_cuts(exploration: Exploration, cuts: Cuts) -> Sizes:
    """Return the size vector that has these cuts, or as near as it may be."""
    space = exploration.space
    if space.n_free == 0:
        return space.with_middle(())
    middle = between_cuts((np.flatnonzero(cuts) + 1).tolist(), space.n_free)
    return space.with_middle(space.with_right_number(middle))
