"""Tabu search: always move to the best neighbour that was not visited lately, even if worse."""

from collections import deque

from tierwise.searching.exploration import Exploration
from tierwise.tiers.sizes import Sizes

# How long a visited size vector may not be visited again.
TENURE = 20
# Moves without a new best after which the search ends.
PATIENCE = 15


def wander(exploration: Exploration, start: Sizes) -> None:
    """Start somewhere and leave local optima by going on where it is least bad."""
    current = best = start
    exploration.evaluate([current], "tabu search, start")
    exploration.step_to(current)
    lately = deque([current], maxlen=TENURE)
    moves_since_best = 0
    while moves_since_best < PATIENCE:
        near = exploration.neighbours(current)
        exploration.evaluate(near, f"tabu search, step {len(exploration.path)}")
        allowed = [sizes for sizes in near if sizes not in lately]
        if not allowed:
            break
        current = exploration.best_of(allowed)
        exploration.step_to(current)
        lately.append(current)
        moves_since_best += 1
        if exploration.score(current) > exploration.score(best):
            best, moves_since_best = current, 0
