"""Climb: move to the best neighbour as long as it is better. The paper's search."""

from tierwise.searching.exploration import Exploration
from tierwise.tiers.sizes import Sizes


def climb(exploration: Exploration, start: Sizes) -> None:
    """Start somewhere and move to the best neighbour until none is better."""
    current: Sizes | None = start
    exploration.evaluate([start], "greedy search, start")
    while current is not None:
        exploration.step_to(current)
        current = _better(exploration, current, exploration.neighbours(current)) or _better(
            exploration, current, exploration.leaps(current)
        )


def _better(exploration: Exploration, current: Sizes, near: list[Sizes]) -> Sizes | None:
    """Return the best of some size vectors, if it is better than the current one."""
    if not near:
        return None
    exploration.evaluate(near, f"greedy search, step {len(exploration.path)}")
    best = exploration.best_of(near)
    return best if exploration.score(best) > exploration.score(current) else None
