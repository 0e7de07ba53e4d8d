"""Steepest ascent (hill climbing): move to the best neighbour as long as it is better.

The search of Piancastelli and Friel, Clustered Mallows Model.
"""

from collections.abc import Callable, Iterator, Sequence

from tierwise.searching.exploration import Exploration
from tierwise.tiers.sizes import Sizes


def climb(exploration: Exploration, start: Sizes) -> None:
    """Start somewhere and move to the best neighbour until none is better."""
    exploration.evaluate([start], "greedy search, start")

    def best_of(near: list[Sizes]) -> Sizes:
        exploration.evaluate(near, f"greedy search, step {len(exploration.path)}")
        return exploration.best_of(near)

    neighbourhoods = [exploration.neighbours, exploration.leaps]
    for sizes in ascend(start, neighbourhoods, best_of, exploration.score):
        exploration.step_to(sizes)


def ascend(
    start: Sizes,
    neighbourhoods: Sequence[Callable[[Sizes], list[Sizes]]],
    best_of: Callable[[list[Sizes]], Sizes],
    score: Callable[[Sizes], float],
) -> Iterator[Sizes]:
    """Yield the size vectors of a steepest ascent, from the start to one that none is better than.

    Parameters
    ----------
    start
        Where to begin.
    neighbourhoods
        Functions that return the neighbours of a size vector; one is asked only if none of those
        that the functions before it returned is better.
    best_of
        Returns the best of some size vectors.
    score
        How good a size vector is.
    """
    current: Sizes | None = start
    while current is not None:
        yield current
        current = _better(current, neighbourhoods, best_of, score)


def _better(
    current: Sizes,
    neighbourhoods: Sequence[Callable[[Sizes], list[Sizes]]],
    best_of: Callable[[list[Sizes]], Sizes],
    score: Callable[[Sizes], float],
) -> Sizes | None:
    """Return the best neighbour of a size vector, if it is better."""
    for neighbours in neighbourhoods:
        near = neighbours(current)
        if near:
            best = best_of(near)
            if score(best) > score(current):
                return best
    return None
