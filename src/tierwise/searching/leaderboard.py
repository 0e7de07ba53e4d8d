"""From values of size vectors to a leaderboard."""

from math import exp, hypot, inf, nan

from tierwise._util.types import Item
from tierwise.fitting.solution import named_tiers
from tierwise.searching.exploration import Exploration
from tierwise.searching.result import Candidate
from tierwise.tiers.sizes import Sizes

# Two criteria whose difference is below so many standard errors may be in the other order.
_STANDARD_ERRORS = 2.0


def rank(exploration: Exploration, items: tuple[Item, ...]) -> tuple[Candidate, ...]:
    """List all evaluated size vectors, best first."""
    known, space = exploration.evaluator.known, exploration.space
    scores = {sizes: exploration.score(sizes) for sizes in known}
    probabilities = {}
    if exploration.judge.criterion == "evidence":
        probabilities = _normalise({sizes: scores[sizes] for sizes in known if sizes in space})
    return tuple(
        Candidate(
            sizes=sizes,
            tiers=named_tiers(known[sizes].labels, items),
            score=scores[sizes],
            criterion=known[sizes].criterion,
            criterion_error=known[sizes].log_likelihood_error,
            agreement=known[sizes].agreement,
            theta=known[sizes].theta,
            log_evidence=known[sizes].log_evidence,
            log_evidence_error=known[sizes].log_evidence_error,
            probability=probabilities.get(sizes, nan),
            optimal=known[sizes].optimal,
            allowed=sizes in space,
        )
        for sizes in sorted(known, key=exploration.order)
    )


def doubtful_sizes(exploration: Exploration, best: Sizes) -> tuple[Sizes, ...]:
    """Size vectors that Monte Carlo error alone may have put behind the best."""
    if exploration.judge.depth == "agreement":
        return ()
    known = exploration.evaluator.known
    winner = known[best]
    found = []
    for sizes in sorted(known, key=exploration.order):
        error = hypot(exploration.judge.error(winner), exploration.judge.error(known[sizes]))
        behind = exploration.score(best) - exploration.score(sizes)
        if sizes != best and sizes in exploration.space and behind < _STANDARD_ERRORS * error:
            found.append(sizes)
    return tuple(found)


def _normalise(log_weights: dict[Sizes, float]) -> dict[Sizes, float]:
    """Turn log weights into probabilities."""
    peak = max(log_weights.values(), default=-inf)
    if peak == -inf:
        return {}
    weights = {sizes: exp(weight - peak) for sizes, weight in log_weights.items()}
    total = sum(weights.values())
    return {sizes: weight / total for sizes, weight in weights.items()}
