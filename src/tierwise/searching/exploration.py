"""What every way to search works with: candidates, their scores, and the path taken."""

from collections.abc import Iterable
from math import exp, hypot, inf, nan
from typing import TYPE_CHECKING

import numpy as np

from tierwise._util.types import Item
from tierwise.fitting.solution import named_tiers
from tierwise.searching.criteria import Judge
from tierwise.searching.evaluate import Evaluator
from tierwise.searching.result import Candidate
from tierwise.searching.size_space import Moves, SizeSpace
from tierwise.tiers.sizes import Sizes

if TYPE_CHECKING:
    from tierwise.searching.strategies import Greedy


class Exploration:
    """A search under way.

    Parameters
    ----------
    space
        The size vectors that may be considered.
    evaluator
        Computes and remembers their values.
    judge
        Says which value is better.
    greedy
        What neighbours are, and how many of them are tried.
    rng
        For that draw, and for searches that draw themselves.
    """

    def __init__(
        self,
        space: SizeSpace,
        evaluator: Evaluator,
        judge: Judge,
        greedy: "Greedy",
        rng: np.random.Generator,
    ) -> None:
        self.space = space
        self.evaluator = evaluator
        self.judge = judge
        self.rng = rng
        self.path: list[Sizes] = []
        self._moves: Moves = greedy.moves
        self._sample_neighbours = greedy.sample_neighbours

    def evaluate(self, candidates: Iterable[Sizes], description: str) -> None:
        """Evaluate size vectors as far as their comparison needs it."""
        wanted = list(candidates)
        if self.judge.criterion == "both":
            self.evaluator.evaluate(wanted, "agreement", f"{description}, agreement")
            wanted = self.judge.narrow(self.evaluator.known[sizes] for sizes in wanted)
        self.evaluator.evaluate(wanted, self.judge.depth, description)

    def score(self, sizes: Sizes) -> float:
        """Return how good an evaluated size vector is."""
        return self.judge.score(self.evaluator.known[sizes])

    @property
    def n_compared(self) -> int:
        """Number of allowed size vectors that are evaluated as far as their comparison needs."""
        known = self.evaluator.known
        return sum(
            self.evaluator.is_known(sizes, self.judge.depth)
            for sizes in known
            if sizes in self.space
        )

    def best_of(self, candidates: Iterable[Sizes]) -> Sizes:
        """Return the best of evaluated size vectors; of equals the one with fewer tiers."""
        return min(candidates, key=self.order)

    def order(self, sizes: Sizes) -> tuple[float, int, Sizes]:
        """Sort key of evaluated size vectors, best first."""
        return (-self.score(sizes), len(sizes), sizes)

    def neighbours(self, sizes: Sizes) -> list[Sizes]:
        """Return the neighbours of a size vector, or as many of them as are to be tried."""
        return self._sample(self.space.neighbours(sizes, self._moves))

    def leaps(self, sizes: Sizes) -> list[Sizes]:
        """Return where to look if no neighbour is better; nowhere with the paper's moves."""
        return self._sample(self.space.leaps(sizes)) if self._moves != "adjacent" else []

    def _sample(self, candidates: list[Sizes]) -> list[Sizes]:
        if self._sample_neighbours is None or len(candidates) <= self._sample_neighbours:
            return candidates
        drawn = self.rng.choice(len(candidates), self._sample_neighbours, replace=False)
        return [candidates[number] for number in sorted(drawn.tolist())]

    def step_to(self, sizes: Sizes) -> None:
        """Add a size vector to the path."""
        self.path.append(sizes)


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
        for sizes in sorted(known, key=lambda sizes: (-scores[sizes], len(sizes), sizes))
    )


def doubtful_sizes(exploration: Exploration, best: Sizes) -> tuple[Sizes, ...]:
    """Size vectors that Monte Carlo error alone may have put behind the best."""
    if exploration.judge.depth == "agreement":
        return ()
    known = exploration.evaluator.known
    error_of_best = exploration.judge.error(known[best])
    found = []
    for sizes, evaluation in known.items():
        error = hypot(error_of_best, exploration.judge.error(evaluation))
        if error > 0.0 and sizes != best and sizes in exploration.space:
            behind = exploration.score(best) - exploration.score(sizes)
            if behind < _STANDARD_ERRORS * error:
                found.append(sizes)
    return tuple(sorted(found, key=exploration.order))


def _normalise(log_weights: dict[Sizes, float]) -> dict[Sizes, float]:
    """Turn log weights into probabilities."""
    peak = max(log_weights.values(), default=-inf)
    if peak == -inf:
        return {}
    weights = {sizes: exp(weight - peak) for sizes, weight in log_weights.items()}
    total = sum(weights.values())
    return {sizes: weight / total for sizes, weight in weights.items()}
