"""next_questions: the most informative comparisons."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import ceil
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from tierwise._util.cards import Card
from tierwise._util.checks import (
    check_choice,
    check_count,
    check_iterable,
    check_number,
    spawn_seeds,
)
from tierwise._util.columns import display_width, shortened_names
from tierwise._util.results import Result
from tierwise._util.tables import Table
from tierwise._util.types import plain_item
from tierwise.answers.races import races_of
from tierwise.data.battles import Battles
from tierwise.data.frames import make_frame
from tierwise.data.kinds import check_data
from tierwise.data.preferences import Preferences
from tierwise.data.rankings import Rankings
from tierwise.errors import InputError, counted, drop, quoted, share_in_words, use
from tierwise.luce.judges import at_effective_number
from tierwise.luce.worths import best_worths
from tierwise.planning.orders import drawn_orders
from tierwise.planning.plan import short_chains
from tierwise.planning.strengths import strengths_of
from tierwise.posterior.estimates import share_above
from tierwise.posterior.run import sample_posterior
from tierwise.posterior.ties import NEARLY_IN_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from tierwise._util.checks import RandomSource
    from tierwise._util.types import Item
    from tierwise.data.frames import Backend
    from tierwise.data.scan import RankingScan
    from tierwise.planning.orders import DrawnOrders
    from tierwise.planning.strengths import Strengths
    from tierwise.posterior.result import Posterior
    from tierwise.searching.choice import Choice

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

AskNext: TypeAlias = Literal["pairs", "subsets"]

# Shares of so many draws are known to a few per cent, which is enough to rank questions.
_DRAWS = 400
_CHAINS = 2
# So many draws of tiers are looked at, at most, and so many of strengths without ties.
_MOST_OF_TIERS, _OF_STRENGTHS = 200, 100
# What none of a few hundred draws of tiers says is still possible, so strengths have a small say.
_SAY_OF_STRENGTHS = 0.03
# Said where all draws agree.
_NOTHING_OPEN = "No question is expected to be informative"
# The note under tables of pairs.
_SUM_OF_SHARES = (
    "The three need not add up to 100%: a better item may be nearly tied, and near ties are judged "
    "under a prior that does not favour few tiers."
)


@dataclass(frozen=True, eq=False)
class Question(Result):
    """A question worth asking.

    Attributes
    ----------
    items
        The items to show.
    gain
        The expected information of the answer about which items are above, tied and below, in
        bits, summed over all pairs of items, assuming that earlier questions are answered.
    above, near, below
        For two items: probability that the first is in a better tier than the second, that the two
        are tied or nearly tied, and that the first is in a worse tier; None for more items. These
        need not sum to 1: a better item may be nearly tied, and near ties are judged under a prior
        that does not favour few tiers.
    """

    items: tuple[Item, ...]
    gain: float
    above: float | None = None
    near: float | None = None
    below: float | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Questions(Result):
    """The next questions, the most informative first; `next_questions` makes it.

    Attributes
    ----------
    rows : tuple of Question
        The questions.
    n_draws : int
        Number of posterior draws behind them.
    """

    rows: tuple[Question, ...]
    n_draws: int

    def __len__(self) -> int:
        """Return the number of questions."""
        return len(self.rows)

    def columns(self) -> dict[str, list[Any]]:
        """Return the questions by columns."""
        longest = max((len(row.items) for row in self.rows), default=0)
        found: dict[str, list[Any]] = {
            f"item_{place + 1}": [plain_item(row.items[place]) for row in self.rows]
            for place in range(longest)
        }
        found["gain"] = [round(row.gain, 8) for row in self.rows]
        if self.rows and self.rows[0].above is not None:
            for name in ("above", "near", "below"):
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

    def table(self, longest_name: int | None = None) -> tuple[list[str], list[list[str]]]:
        """Return the header and the rows as text; names may be cut."""
        pairs = bool(self.rows) and self.rows[0].above is not None
        items = list(dict.fromkeys(item for row in self.rows for item in row.items))
        names = [str(item) for item in items]
        if longest_name is not None:
            names = shortened_names(names, longest_name)
        shown = dict(zip(items, names, strict=True))
        header = ["ask about", "gain (millibits)"]
        header += ["P(first better)", "P(near)", "P(second better)"] if pairs else []
        cells = []
        for row in self.rows:
            asked = (" or " if pairs else ", ").join(shown[item] for item in row.items)
            cell = [asked, f"{1000 * row.gain:.2f}"]
            if row.above is not None and row.near is not None and row.below is not None:
                cell += [share_in_words(share) for share in (row.above, row.near, row.below)]
            cells.append(cell)
        return header, cells

    def _card(self) -> Card:
        title = "What to ask next" if self.rows else _NOTHING_OPEN
        return Card(title, [("draws", f"{self.n_draws:,}")], table=self.table())

    def summary(self, width: int = 88) -> str:
        """Return the questions as text.

        Parameters
        ----------
        width
            The width of the text, in characters.
        """
        if not self.rows:
            return f"{_NOTHING_OPEN}, from {self.n_draws:,} draws of the posterior."
        header, cells = self.table()
        columns = [*zip(header, *cells, strict=True)]
        beside = sum(2 + max(map(len, column)) for column in columns[1:])
        left_out = ""
        if max(display_width(cell[0]) for cell in cells) > width - beside and len(header) > 2:
            # Both names of a question must be seen.
            beside -= 2 + len(header[-1])
            _, cells = self.table((width - beside - len(" or ")) // 2)
            left_out = f"Left out to fit the width: {header[-1]}. "
            header, cells = header[:-1], [cell[:-1] for cell in cells]
        note = (
            f"{left_out}Gain: the expected information of one answer about which items are "
            f"above, tied and below, from {self.n_draws:,} draws of the posterior."
        )
        if self.rows[0].near is not None:
            note += f" P(near): {NEARLY_IN_WORDS}. {_SUM_OF_SHARES}"
        return Table(header, cells, note=note).to_text(width)

    def __repr__(self) -> str:
        if not self.rows:
            return f"Questions(none: {_NOTHING_OPEN[0].lower()}{_NOTHING_OPEN[1:]})"
        first = " or ".join(map(str, self.rows[0].items))
        return f"Questions({counted(len(self), 'question')}, the first about {first})"


def next_questions(
    data: Rankings | RankingScan | Preferences | Battles,
    k: int = 10,
    ask: AskNext = "pairs",
    *,
    size: int | None = None,
    costs: Mapping[Item, float] | None = None,
    exclude: Iterable[tuple[Item, Item]] = (),
    choice: Choice | None = None,
    posterior: Posterior | None = None,
    rng: RandomSource = None,
) -> Questions:
    """Find the comparisons with the most expected information about the tiers.

    For each pair of items, the first is above, tied with or below the second, and the uncertainty
    about this has an entropy. The gain of a question is the expected reduction of entropy, summed
    over all pairs of items: who wins is informative about the two, about all others, and about
    whether there are tiers at all, as far as these go together in draws of the posterior. Questions
    of a batch are chosen one after another, assuming that earlier ones are answered, so a batch
    does not ask the same thing twice.

    Asking about the closest strengths is not the same: close items win about half of their
    comparisons, tied or not, and such votes alone do not show that there are tiers. While no draw
    has any, questions follow draws of strengths without ties, which have a small weight: they are
    about items far apart. There need not be any answers yet.

    Parameters
    ----------
    data
        The answers so far.
    k
        The number of questions, all different.
    ask
        "pairs": compare two items. "subsets": rank ``size`` items.
    size
        The number of items in a subset.
    costs
        The cost of showing an item; 1 if not given. Questions are compared by gain per cost, summed
        over the items shown.
    exclude
        Pairs of items that must not be shown together.
    choice
        The result of `choose` for the data. Without it, models are compared, except for votes on
        pairs: for these the tiers have worths.
    posterior
        A posterior of these data, if you have one, to avoid sampling again.
    rng
        Seed or generator.

    Examples
    --------
    >>> import tierwise as tw
    >>> battles = tw.Battles.from_rows([("a", "b", "a")] * 30 + [("b", "c", "b"), ("c", "b", "c")])
    >>> tw.next_questions(battles, 1, rng=1).rows[0].items  # where c stands is open
    ('a', 'c')
    """
    check_choice("ask", ask, get_args(AskNext))
    k = check_count("k", k)
    known = at_effective_number(
        check_data(data, "next_questions", Rankings, Preferences, Battles, weights="effective")
    )
    if posterior is None:
        posterior = _posterior_of(known, choice, rng)
    items = known.items
    if set(posterior.items) != set(items):
        raise InputError("the posterior has other items than the data", [drop("posterior")])
    n_items = len(items)
    allowed = ~np.eye(n_items, dtype=bool)
    for first, second in _numbered_pairs(exclude, items):
        allowed[first, second] = allowed[second, first] = False
    if not allowed.any():
        raise InputError("all pairs are excluded", [drop("exclude")])
    prices = _prices(costs, items)
    if ask == "pairs":
        if size is not None:
            raise InputError("a pair has two items", [drop("size"), use(ask="subsets")])
        size = 2
    elif size is None:
        raise InputError("the number of items in a subset is missing", [use(size=...)])
    size = check_count("size", size, 2, n_items)
    order = [posterior.items.index(item) for item in items]
    above = share_above(posterior.labels)[np.ix_(order, order)]
    near = posterior.tied_or_nearly_probabilities().to_numpy()[np.ix_(order, order)]
    # The same answers and draws give the same questions.
    numbers = np.random.default_rng(ceil(known.n_rankings))
    logs = _log_worths(posterior, known)
    orders = open_orders(posterior.labels[:, order], logs[:, order], strengths_of(known), numbers)
    batch = batch_of_questions(orders, allowed, prices, k, size)
    rows = [_question(members, gain, above, near, items) for members, gain in batch]
    return Questions(tuple(rows), len(posterior.labels))


def _posterior_of(data: Any, choice: Choice | None, rng: RandomSource) -> Posterior:
    """Draw tiers of all sizes, of the model that describes the answers best.

    For comparisons of two items it has worths, without looking at others: questions are valued by
    worths anyway, and comparing the models takes longer than everything else.
    """
    from tierwise.searching.choice import choose

    first, second = spawn_seeds(rng, 2)
    if choice is None and not data.pairwise:
        choice = choose(data, progress="off", rng=first)
    with short_chains():
        return sample_posterior(
            data,
            distance=None if choice is None else choice.distance or None,
            family="luce" if choice is None else choice.family,
            concentration="tier" if choice and choice.concentration == "tier" else "single",
            chains=_CHAINS,
            draws=_DRAWS // _CHAINS,
            progress="off",
            rng=second,
        )


def _log_worths(posterior: Posterior, data: Any) -> Floats:
    """Return log worths of the items of a posterior in each draw; the best ones if it has none."""
    if posterior.family == "luce":
        return posterior.log_worths
    races = races_of(data)
    order = [data.items.index(item) for item in posterior.items]
    different, draw_of = np.unique(posterior.labels, axis=0, return_inverse=True)
    found = np.empty(different.shape)
    for labels, row in zip(different, found, strict=True):
        in_data = np.empty(len(order), dtype=np.int64)
        in_data[order] = labels - 1
        row[:] = best_worths(races, in_data).logs[labels - 1]
    return np.asarray(found[draw_of.ravel()])


def open_orders(
    labels: Integers, log_worths: Floats, strengths: Strengths, rng: np.random.Generator
) -> DrawnOrders:
    """Join draws of tiers with draws of strengths that are all different, which have a small say.

    Parameters
    ----------
    labels, log_worths
        Tier and log worth of each item (column) in each draw (row).
    strengths
        What the answers say without ties.
    rng
        For the draws of strengths.
    """
    some = np.linspace(0, len(labels) - 1, min(len(labels), _MOST_OF_TIERS)).astype(np.int64)
    drawn = strengths.draw(_OF_STRENGTHS, rng)
    ranks = np.argsort(np.argsort(-drawn, axis=1), axis=1) + 1
    shares = ((1.0 - _SAY_OF_STRENGTHS) / len(some), _SAY_OF_STRENGTHS / _OF_STRENGTHS)
    return drawn_orders(
        np.vstack([labels[some], ranks]),
        np.vstack([log_worths[some], drawn]),
        np.repeat(shares, (len(some), _OF_STRENGTHS)),
    )


def batch_of_questions(
    orders: DrawnOrders,
    allowed: NDArray[np.bool_],
    prices: Floats,
    k: int,
    size: int,
) -> list[tuple[tuple[int, ...], float]]:
    """Choose questions one by one, each as if those before had been answered, with their gains."""
    # Of the comparisons that a ranking implies, several say the same: each counts for less.
    share = 4.0 * sum((left - 1) / left for left in range(2, size + 1)) / (size * (size - 1))
    chosen: list[tuple[tuple[int, ...], float]] = []
    unasked = np.triu(allowed)
    for _ in range(k):
        gains = np.where(allowed, share * orders.gains(), 0.0)
        members = _most_worth(gains, unasked, allowed, prices, size)
        if members is None:
            break
        inside = np.ix_(members, members)
        chosen.append((members, float(np.triu(gains[inside], k=1).sum())))
        unasked[inside] = False
        for one, other in combinations(members, 2):
            orders = orders.observe(one, other, share)
    return chosen


def _most_worth(
    gains: Floats,
    unasked: NDArray[np.bool_],
    allowed: NDArray[np.bool_],
    prices: Floats,
    size: int,
) -> tuple[int, ...] | None:
    """Begin with the pair that gains most for what it costs, and add what adds most."""
    worth = np.where(unasked, gains / (prices[:, None] + prices), -1.0)
    first, second = np.unravel_index(int(np.argmax(worth)), worth.shape)
    if worth[first, second] < 0.0:
        return None
    members = [int(first), int(second)]
    while len(members) < size:
        sums = gains[members].sum(axis=0) / prices
        sums[~allowed[members].all(axis=0)] = -1.0
        best = int(np.argmax(sums))
        if sums[best] < 0.0:
            break
        members.append(best)
    return tuple(sorted(members))


def _question(
    numbers: tuple[int, ...], gain: float, above: Floats, near: Floats, items: tuple[Item, ...]
) -> Question:
    names = tuple(items[number] for number in numbers)
    if len(numbers) > 2:
        return Question(names, gain)
    one, other = numbers
    shares = (above[one, other], near[one, other], above[other, one])
    return Question(names, gain, *map(float, shares))


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
