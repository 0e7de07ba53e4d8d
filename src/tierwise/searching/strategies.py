"""Ways through the space of sizes: exhaustive, hill climbing, tabu search, a genetic algorithm.

All work on an `Exploration`: candidates, their scores, and the path taken.

Hill climbing by steepest ascent is the paper's. Tabu search is Glover's (Tabu Search, Part I, ORSA
Journal on Computing 1, 1989). The genetic algorithm is Holland's (Adaptation in Natural and
Artificial Systems, 1975), size vectors being sets of cuts between places.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from math import exp, hypot, inf, nan
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from tierwise._util.checks import check_choice, check_count, check_number
from tierwise._util.types import Item
from tierwise.errors import InputError
from tierwise.fitting.solve import named_tiers
from tierwise.searching.evaluate import Evaluator, Judge, bound_together, can_be_together
from tierwise.searching.result import Candidate
from tierwise.searching.size_space import Moves, SizeSpace, between_cuts, check_moves
from tierwise.tiers import Sizes, check_sizes


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

    Attributes
    ----------
    path
        The size vectors that were moved to.
    n_excluded
        Number of allowed size vectors that are not evaluated, as bounds show that others are
        better.
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
        self.n_excluded = 0
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

    @property
    def can_be_bounded(self) -> bool:
        """Whether it takes less to bound size vectors than to evaluate them."""
        judged = self.judge.criterion in ("posterior", "likelihood")
        return judged and can_be_together(self.evaluator.setting, self.judge.depth)

    def by_bounds(self) -> list[tuple[Sizes, float]]:
        """List all size vectors with how good they can be at most, the most promising first."""
        bounded = bound_together(self.evaluator.setting, list(self.space), self.judge.depth)
        bounds = [(one.sizes, self.judge.score(one)) for one in bounded]
        return sorted(bounds, key=lambda one: -one[1])

    def best_of(self, candidates: Iterable[Sizes]) -> Sizes:
        """Return the best of evaluated size vectors; of equals the one with fewer tiers."""
        return min(candidates, key=self.order)

    def order(self, sizes: Sizes) -> tuple[float, int, Sizes]:
        """Sort key of evaluated size vectors, best first."""
        return (-self.score(sizes), len(sizes), sizes)

    def neighbours(self, sizes: Sizes) -> list[Sizes]:
        """Return the neighbours of a size vector, or a random sample of them."""
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


Start: TypeAlias = Literal["merging", "merging-by-size"]
Cuts: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True)
class _Strategy:
    """What searches that start somewhere have in common."""

    start: str | Iterable[int] = "merging"
    tolerance: float | None = None

    def __post_init__(self) -> None:
        if isinstance(self.start, str):
            check_choice("start", self.start, get_args(Start))
        else:
            object.__setattr__(self, "start", check_sizes(self.start))
        if self.tolerance is not None:
            check_number("tolerance", self.tolerance, least=0.0)


@dataclass(frozen=True)
class Greedy(_Strategy):
    """Hill climbing: move to the best neighbour while that is better.

    Attributes
    ----------
    start
        Where to begin: sizes, or "merging", the paper's merging of items with nearly even
        preferences, in order of preference. "merging-by-size" takes the smallest group first, as
        the paper does.
    tolerance
        How uneven pairs may be to be merged; see `merge_even_pairs`.
    moves
        The neighbourhood: "adjacent" is the paper's shift of one item to the next tier;
        "split-merge-shift" can also split a tier or merge two. If it is stuck, it also tries to
        merge more tiers at once, or to break one up.
    sample_neighbours
        The number of neighbours to try per move, drawn at random; None tries all.

    Examples
    --------
    >>> Greedy(start=(2, 2), moves="adjacent").sample_neighbours is None
    True
    """

    moves: Moves = "split-merge-shift"
    sample_neighbours: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_moves(self.moves)
        if self.sample_neighbours is not None:
            check_count("sample_neighbours", self.sample_neighbours)


@dataclass(frozen=True)
class Tabu(Greedy):
    """Tabu search: move to the best neighbour that was not visited recently, even if it is worse.

    Attributes
    ----------
    start, tolerance, moves, sample_neighbours
        As in `Greedy`.
    tenure
        Number of moves for which a visited size vector is not visited again.
    patience
        Moves without a new best after which the search ends.
    """

    tenure: int = 20
    patience: int = 15

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("tenure", self.tenure)
        check_count("patience", self.patience)


@dataclass(frozen=True)
class Genetic(_Strategy):
    """Genetic algorithm: size vectors are crossed and mutated, and the best ones survive.

    Attributes
    ----------
    start, tolerance
        As in `Greedy`; the rest of the first generation is drawn at random.
    population
        Number of size vectors in a generation, more than the survivors.
    survivors
        The number of best size vectors of a generation that survive unchanged.
    contestants
        The number of parents drawn at random; the best of them is used.
    patience
        Generations without a new best after which the search ends.
    """

    population: int = 30
    survivors: int = 4
    contestants: int = 3
    patience: int = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("survivors", "contestants", "patience"):
            check_count(name, getattr(self, name))
        check_count("population", self.population, least=self.survivors + 1)


Strategy: TypeAlias = Greedy | Tabu | Genetic
_NAMES: dict[str, type[Strategy]] = {"greedy": Greedy, "tabu": Tabu, "genetic": Genetic}


def strategy_of(method: object) -> Strategy | Literal["auto", "exhaustive"]:
    """Return the strategy that a name stands for; strategies, "auto" and "exhaustive" as they are.

    Examples
    --------
    >>> strategy_of("genetic").population
    30
    """
    if isinstance(method, Greedy | Genetic):
        return method
    try:
        check_choice("method", method, ("auto", "exhaustive", *_NAMES))
    except InputError as error:
        raise InputError(f"{error.problem}", ["use a Greedy, Tabu or Genetic"]) from None
    return _NAMES[str(method)]() if method in _NAMES else str(method)  # type: ignore[return-value]


def name_of(strategy: Strategy | Literal["auto", "exhaustive"]) -> str:
    """Return what a strategy is called."""
    return strategy if isinstance(strategy, str) else type(strategy).__name__.lower()


def explore(
    exploration: Exploration, strategy: Strategy | Literal["exhaustive"], start: Sizes
) -> None:
    """Search by a strategy until it ends."""
    if isinstance(strategy, Genetic):
        _evolve(exploration, strategy, start)
    elif isinstance(strategy, Tabu):
        _search_tabu(exploration, strategy, start)
    elif isinstance(strategy, Greedy):
        _climb(exploration, start)
    else:
        exploration.evaluate(exploration.space, "all sizes")


# As many as a summary shows are proved to be the best.
_N_PROVED = 10
_SIZES_AT_A_TIME = 64


def compare_by_bounds(exploration: Exploration) -> None:
    """Evaluate size vectors, the most promising first, until no other can be among the best.

    That is branch and bound (Land and Doig, An Automatic Method of Solving Discrete Programming
    Problems, Econometrica 28, 1960).
    """
    promising = exploration.by_bounds()
    known, scores = exploration.evaluator.known, np.full(_N_PROVED, -inf)
    for start in range(0, len(promising), _SIZES_AT_A_TIME):
        batch = promising[start : start + _SIZES_AT_A_TIME]
        if batch[0][1] < scores[0]:
            exploration.n_excluded = sum(sizes not in known for sizes, _ in promising)
            return
        sizes_of_batch = [sizes for sizes, _ in batch]
        exploration.evaluate(sizes_of_batch, "all sizes")
        found = [exploration.score(sizes) for sizes in sizes_of_batch]
        scores = np.sort(np.append(scores, found))[-_N_PROVED:]


def hill_climb(
    start: Sizes,
    neighbourhoods: Iterable[Callable[[Sizes], list[Sizes]]],
    best_of: Callable[[list[Sizes]], tuple[Sizes, float]],
) -> Iterator[Sizes]:
    """Steepest ascent over sizes: yield the start and every better neighbour that is moved to.

    Parameters
    ----------
    start
        Sizes to begin with.
    neighbourhoods
        Functions that give the neighbours of sizes; each is tried if none before it has a better
        one.
    best_of
        Evaluates sizes and returns the best of them with its score.

    Examples
    --------
    >>> from tierwise.tiers import neighbours
    >>> best_of = lambda near: max(((sizes, -len(sizes)) for sizes in near), key=lambda one: one[1])
    >>> list(hill_climb((1, 1, 1), [neighbours], best_of))
    [(1, 1, 1), (2, 1), (3,)]
    """
    current, score = best_of([start])
    while True:
        yield current
        for neighbourhood in neighbourhoods:
            near = neighbourhood(current)
            best, its_score = best_of(near) if near else (current, score)
            if its_score > score:
                current, score = best, its_score
                break
        else:
            return


def _climb(exploration: Exploration, start: Sizes) -> None:
    def best_of(candidates: list[Sizes]) -> tuple[Sizes, float]:
        exploration.evaluate(candidates, f"greedy search, step {len(exploration.path)}")
        best = exploration.best_of(candidates)
        return best, exploration.score(best)

    for sizes in hill_climb(start, (exploration.neighbours, exploration.leaps), best_of):
        exploration.step_to(sizes)


def _search_tabu(exploration: Exploration, tabu: Tabu, start: Sizes) -> None:
    current = best = start
    exploration.evaluate([current], "tabu search, start")
    exploration.step_to(current)
    lately = deque([current], maxlen=tabu.tenure)
    moves_since_best = 0
    while moves_since_best < tabu.patience:
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


def _evolve(exploration: Exploration, genetic: Genetic, start: Sizes) -> None:
    population = _first_generation(exploration, genetic, start)
    best, generations_since_best = start, 0
    while generations_since_best < genetic.patience:
        exploration.evaluate(population, f"genetic search, generation {len(exploration.path) + 1}")
        ranked = sorted(population, key=exploration.order)
        exploration.step_to(ranked[0])
        generations_since_best += 1
        if exploration.order(ranked[0]) < exploration.order(best):
            best, generations_since_best = ranked[0], 0
        n_children = genetic.population - genetic.survivors
        children = [_child(exploration, genetic, ranked) for _ in range(n_children)]
        population = list(dict.fromkeys([*ranked[: genetic.survivors], *children]))


def _first_generation(exploration: Exploration, genetic: Genetic, start: Sizes) -> list[Sizes]:
    """Return the start and random size vectors."""
    n_places = max(exploration.space.n_free - 1, 0)
    drawn = [
        _from_cuts(exploration, exploration.rng.random(n_places) < exploration.rng.random())
        for _ in range(genetic.population - 1)
    ]
    return list(dict.fromkeys([start, *drawn]))


def _child(exploration: Exploration, genetic: Genetic, ranked: list[Sizes]) -> Sizes:
    """Take each cut from one of two good parents, and change about one of them."""
    rng = exploration.rng
    winners = rng.integers(len(ranked), size=(2, genetic.contestants)).min(axis=1).tolist()
    first, second = (_to_cuts(exploration, ranked[winner]) for winner in winners)
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
