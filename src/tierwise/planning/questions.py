"""next_questions: which comparisons say most about what is still open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from tierwise._kernels.questions import gains_of_pairs
from tierwise._util.checks import (
    check_choice,
    check_count,
    check_iterable,
    check_number,
    spawn_seeds,
)
from tierwise._util.results import Result
from tierwise._util.tables import Table
from tierwise._util.types import plain_item
from tierwise.data.frames import make_frame
from tierwise.errors import InputError, counted, drop, quoted, share_in_words, use
from tierwise.planning.plan import model_of_draw, short_chains
from tierwise.posterior.estimates import share_above
from tierwise.posterior.result import Posterior
from tierwise.posterior.run import sample_posterior

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from tierwise._util.checks import RandomSource
    from tierwise._util.types import Item
    from tierwise.data.battles import Battles
    from tierwise.data.counts import Counts
    from tierwise.data.frames import Backend
    from tierwise.data.preferences import Preferences
    from tierwise.data.rankings import Rankings
    from tierwise.data.scan import RankingScan
    from tierwise.searching.choice import Choice

    Floats = NDArray[np.float64]

AskNext: TypeAlias = Literal["pairs", "subsets"]

# Shares of so many draws are known to a few per cent, which is enough to rank questions.
_DRAWS = 400
_CHAINS = 2
# Said where all draws agree.
_NOTHING_OPEN = "No answer is expected to say anything new"


@dataclass(frozen=True, eq=False)
class Question(Result):
    """A question worth asking.

    Attributes
    ----------
    items
        The items to show.
    gain
        How much the answer is expected to say about which items are above, tied and below, in
        bits, summed over all pairs with one of the items.
    above, tied, below
        For two items: probability that the first is in a better tier than the second, in the same
        one, and in a worse one; None for more items.
    """

    items: tuple[Item, ...]
    gain: float
    above: float | None = None
    tied: float | None = None
    below: float | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Questions(Result):
    """What to ask next, the most informative first; `next_questions` makes it.

    Attributes
    ----------
    rows : tuple of Question
        The questions.
    n_draws : int
        Number of draws of the posterior that they come from.
    """

    rows: tuple[Question, ...]
    n_draws: int

    def __len__(self) -> int:
        """Return the number of questions."""
        return len(self.rows)

    def columns(self) -> dict[str, list[Any]]:
        """Return the questions by columns."""
        longest = max(len(row.items) for row in self.rows)
        found: dict[str, list[Any]] = {
            f"item_{place + 1}": [plain_item(row.items[place]) for row in self.rows]
            for place in range(longest)
        }
        found["gain"] = [round(row.gain, 8) for row in self.rows]
        if self.rows[0].above is not None:
            for name in ("above", "tied", "below"):
                found[f"p_{name}"] = [round(getattr(row, name), 6) for row in self.rows]
        return found

    def to_frame(self, *, backend: Backend = "pandas") -> Any:
        """Return the questions as a data frame of pandas, polars or pyarrow."""
        return make_frame(self.columns(), backend)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, as in JSON."""
        columns = self.columns()
        return {
            "draws": self.n_draws,
            "questions": [
                dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)
            ],
        }

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Return the header and the rows as people read them."""
        pairs = self.rows[0].above is not None
        header = ["ask about", "gain (millibits)"]
        header += ["P(first better)", "P(tied)", "P(second better)"] if pairs else []
        cells = []
        for row in self.rows:
            cell = [(" or " if pairs else ", ").join(map(str, row.items)), f"{1000 * row.gain:.2f}"]
            if row.above is not None and row.tied is not None and row.below is not None:
                cell += [share_in_words(share) for share in (row.above, row.tied, row.below)]
            cells.append(cell)
        return header, cells

    def summary(self, width: int = 88) -> str:
        """Return the questions for people.

        Parameters
        ----------
        width
            How many columns there are to write in.
        """
        if not self.rows:
            return f"{_NOTHING_OPEN}, from {self.n_draws:,} draws of the posterior."
        header, cells = self.table()
        note = (
            "Gain is what one answer is expected to say about which items are above, tied and "
            f"below, from {self.n_draws:,} draws of the posterior."
        )
        return Table(header, cells, note=note).to_text(width)

    def __repr__(self) -> str:
        if not self.rows:
            return f"Questions(none: {_NOTHING_OPEN[0].lower()}{_NOTHING_OPEN[1:]})"
        first = " or ".join(map(str, self.rows[0].items))
        return f"Questions({counted(len(self), 'question')}, the first about {first})"


def next_questions(
    data: Rankings | RankingScan | Counts | Preferences | Battles | Posterior,
    k: int = 10,
    ask: AskNext = "pairs",
    *,
    size: int | None = None,
    costs: Mapping[Item, float] | None = None,
    exclude: Iterable[tuple[Item, Item]] = (),
    choice: Choice | None = None,
    rng: RandomSource = None,
) -> Questions:
    """Find the comparisons that are expected to say most about the tiers.

    Each pair of items is above, tied or below; what is open about that has an entropy. A question
    is worth the entropy that its answer is expected to take away, summed over all pairs that hold
    one of the items asked about.

    Parameters
    ----------
    data
        The answers that there are, or a posterior of theirs, which saves drawing one.
    k
        How many questions. No two are the same.
    ask
        "pairs": two items are to be compared. "subsets": ``size`` items are to be ranked; such a
        question counts for all its pairs that no earlier one holds.
    size
        How many items a subset has.
    costs
        What it costs to show an item; 1 if it is not named. Questions are compared by gain per
        cost, which is the sum over the items shown.
    exclude
        Pairs of items that cannot be asked about together.
    choice
        What `choose` found for the data; then models are not compared again.
    rng
        A seed, for the same questions every time.

    Examples
    --------
    >>> import tierwise as tw
    >>> battles = tw.Battles.from_rows([("a", "b", "a")] * 30 + [("b", "c", "b"), ("c", "b", "c")])
    >>> tw.next_questions(battles, 1, rng=1).rows[0].items
    ('a', 'c')
    """
    check_choice("ask", ask, get_args(AskNext))
    k = check_count("k", k)
    posterior = data if isinstance(data, Posterior) else _posterior_of(data, choice, rng)
    items = posterior.items
    n_items = len(items)
    most = n_items * (n_items - 1) // 2
    gains, n_draws = _gains(posterior)
    open_pairs = np.triu(np.ones((n_items, n_items), dtype=bool), k=1)
    for first, second in _numbered_pairs(exclude, items):
        open_pairs[first, second] = open_pairs[second, first] = False
    if not open_pairs.any():
        raise InputError("all pairs are excluded", [drop("exclude")])
    prices = _prices(costs, items)
    if ask == "pairs":
        if size is not None:
            raise InputError("a pair has two items", [drop("size"), use(ask="subsets")])
        worth = np.where(open_pairs, gains / (prices[:, None] + prices), -1.0)
        order = np.argsort(-worth, axis=None, kind="stable")[: min(k, int(open_pairs.sum()), most)]
        chosen = [tuple(map(int, np.unravel_index(int(place), worth.shape))) for place in order]
    else:
        if size is None:
            raise InputError("how many items a subset has is not known", [use(size=...)])
        size = check_count("size", size, 2, n_items)
        chosen = _subsets(gains, open_pairs | open_pairs.T, prices, k, size)
    above = share_above(posterior.labels)
    return Questions(tuple(_question(one, gains, above, items) for one in chosen), n_draws)


def _posterior_of(data: Any, choice: Choice | None, rng: RandomSource) -> Posterior:
    """Draw tiers of all sizes, of the model that describes the answers best."""
    from tierwise.searching.choice import choose

    first, second = spawn_seeds(rng, 2)
    if choice is None:
        choice = choose(data, progress="off", rng=first)
    with short_chains():
        return sample_posterior(
            data,
            distance=choice.distance or None,
            family=choice.family,
            concentration="tier" if choice.concentration == "tier" else "single",
            chains=_CHAINS,
            draws=_DRAWS // _CHAINS,
            progress="off",
            rng=second,
        )


def _gains(posterior: Posterior) -> tuple[Floats, int]:
    """Return what the winner of each pair is expected to say, in bits, and the number of draws."""
    chosen = np.unique(np.linspace(0, len(posterior.labels) - 1, _DRAWS).astype(np.int64))
    labels = posterior.labels[chosen] - 1
    n_items = labels.shape[1]
    worths, chances = np.zeros((0, n_items)), np.zeros((0, 1, 1))
    if posterior.family == "luce":
        worths = posterior.log_worths[chosen]
    else:
        n_tiers = int(labels.max()) + 1
        chances = np.full((len(chosen), n_tiers, n_tiers), 0.5)
        for place, draw in enumerate(chosen.tolist()):
            model = model_of_draw(posterior, draw)
            own = len(model.tiers)
            chances[place, :own, :own] = np.asarray(model.pair_probabilities())
            np.fill_diagonal(chances[place], 0.5)
    gains = np.zeros((n_items, n_items))
    gains_of_pairs(labels, worths, chances, gains)
    return gains / np.log(2.0), len(chosen)


def _subsets(
    gains: Floats, allowed: NDArray[np.bool_], prices: Floats, k: int, size: int
) -> list[tuple[int, ...]]:
    """Choose subsets one by one: begin with the best pair, and add what gains most."""
    left = np.where(allowed, gains, 0.0)
    np.fill_diagonal(left, 0.0)
    chosen: list[tuple[int, ...]] = []
    for _ in range(k):
        worth = left / (prices[:, None] + prices)
        first, second = np.unravel_index(int(np.argmax(worth)), worth.shape)
        members = [int(first), int(second)]
        if left[members[0], members[1]] <= 0.0:
            break
        while len(members) < size:
            sums = left[members].sum(axis=0) / prices
            sums[~allowed[members].all(axis=0)] = -1.0
            sums[members] = -1.0
            best = int(np.argmax(sums))
            if sums[best] < 0.0:
                break
            members.append(best)
        members.sort()
        left[np.ix_(members, members)] = 0.0
        chosen.append(tuple(members))
    return chosen


def _question(
    numbers: tuple[int, ...], gains: Floats, above: Floats, items: tuple[Item, ...]
) -> Question:
    names = tuple(items[number] for number in numbers)
    gain = float(np.triu(gains[np.ix_(numbers, numbers)], k=1).sum())
    if len(numbers) > 2:
        return Question(names, gain)
    one, other = numbers
    better, worse = float(above[one, other]), float(above[other, one])
    return Question(names, gain, better, max(1.0 - better - worse, 0.0), worse)


def _numbered_pairs(
    pairs: Iterable[tuple[Item, Item]], items: tuple[Item, ...]
) -> list[tuple[int, int]]:
    number_of = {item: number for number, item in enumerate(items)}
    found = []
    for pair in check_iterable("exclude", pairs, "pairs of items"):
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise InputError(f"exclude must hold pairs of items; got {quoted(pair)}")
        for item in pair:
            if item not in number_of:
                raise InputError(f"exclude names {quoted(item)}, which is not an item")
        found.append((number_of[pair[0]], number_of[pair[1]]))
    return found


def _prices(costs: Mapping[Item, float] | None, items: tuple[Item, ...]) -> Floats:
    """Return what it costs to show each item."""
    prices = np.ones(len(items))
    for item, cost in (costs or {}).items():
        if item not in items:
            raise InputError(f"costs name {quoted(item)}, which is not an item")
        if not check_number("costs", cost) > 0.0:
            raise InputError(f"the cost of {quoted(item)} must be above 0; got {cost}")
        prices[items.index(item)] = cost
    return prices
