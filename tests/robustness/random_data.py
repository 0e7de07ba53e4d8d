"""Small data of every kind, drawn at random: what the random calls are made with."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pyarrow as pa

import tierwise as tw

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
MOST_ITEMS = 6
MOST_ROWS = 30
# Larger files take longer to read than all that is then done with them.
LARGEST_FILE = 20_000

# Names that mean something to a file, a page, a figure or a terminal.
NAMES = (
    *("a", "b", "c", "d", "e", "f", "g"),
    *("weight", "item", "rank", "chain", "", " x ", "x" * 90, "1", "nan", "a,b", 'say "so"'),
    *("<b>bold</b>", "$\\frac{1}", "a_b^c", "100%", "{x}", "é", "寿司", "🍣", "a > b", "a ~ b"),
)
NUMBERS = (*range(5), -1, 2.5, 1e300, np.int64(70), np.float64(0.5), True)


def names(rng, n_items):
    """Names of items: letters, or words that are hard on something, or numbers."""
    kind = rng.choice(["letters", "words", "whole numbers", "anything"], p=[0.6, 0.2, 0.1, 0.1])
    if kind == "letters":
        return tuple("abcdefghijklmnop"[:n_items])
    if kind == "whole numbers":
        return tuple(range(n_items))
    known = NAMES if kind == "words" else (*NAMES, *NUMBERS, ("a", 1), None)
    # Equal ones, such as 1 and True, are one name.
    distinct = list({known[place]: None for place in rng.permutation(len(known))})
    return tuple(distinct[:n_items])


def number_of_items(rng):
    return int(rng.choice([2, 3, 4, 5, MOST_ITEMS]))


def number_of_rows(rng):
    return int(rng.choice([1, 2, 3, 10, MOST_ROWS]))


def weights(rng, n_rows):
    """Weights of every kind, most often none."""
    kind = rng.choice(
        ["none", "whole", "survey", "huge", "tiny", "some are 0"], p=[0.6, *[0.08] * 5]
    )
    if kind == "none":
        return None
    if kind == "whole":
        return rng.integers(1, 20, n_rows)
    if kind == "survey":
        return rng.uniform(0.2, 3.0, n_rows)
    if kind == "huge":
        return 10.0 ** rng.uniform(0, 12, n_rows)
    if kind == "tiny":
        return 10.0 ** rng.uniform(-12, 0, n_rows)
    return np.append(rng.integers(0, 3, n_rows - 1), 1)


def places(rng, n_items, n_rows):
    """The place of each item in each answer: agreement from none to nearly perfect."""
    strength = rng.choice([0.0, 0.5, 2.0, 10.0])
    worth = strength * rng.normal(size=n_items) + rng.gumbel(size=(n_rows, n_items))
    return (-worth).argsort(axis=1).argsort(axis=1)


def complete(rng):
    n_items, n_rows = number_of_items(rng), number_of_rows(rng)
    orderings = places(rng, n_items, n_rows).argsort(axis=1)
    return tw.Rankings.from_order_array(orderings, names(rng, n_items), weights(rng, n_rows))


def with_ranks(rng, ranks, unranked):
    """Make rankings of a table of ranks, NaN where an item is not listed."""
    return tw.Rankings.from_ranks(
        ranks,
        names(rng, ranks.shape[1]),
        weights=weights(rng, len(ranks)),
        unranked=unranked,
        ties="allow",
    )


def top_lists(rng):
    ranks = places(rng, number_of_items(rng), number_of_rows(rng)) + 1.0
    length = rng.integers(1, ranks.shape[1] + 1, (len(ranks), 1))
    ranks[ranks > length] = np.nan
    return with_ranks(rng, ranks, "below")


def gaps(rng):
    ranks = places(rng, number_of_items(rng), number_of_rows(rng)) + 1.0
    hidden = rng.random(ranks.shape) < rng.uniform(0, 0.8)
    hidden[np.arange(len(ranks)), rng.integers(ranks.shape[1], size=len(ranks))] = False
    ranks[hidden] = np.nan
    return with_ranks(rng, dense(ranks), "anywhere")


def ties(rng):
    ranks = places(rng, number_of_items(rng), number_of_rows(rng)) // rng.integers(1, 4) + 1.0
    return with_ranks(rng, dense(ranks), None)


def ties_and_gaps(rng):
    ranks = places(rng, number_of_items(rng), number_of_rows(rng)) // rng.integers(1, 4) + 1.0
    hidden = rng.random(ranks.shape) < 0.3
    hidden[:, 0] = False
    ranks[hidden] = np.nan
    return with_ranks(rng, dense(ranks), str(rng.choice(["below", "anywhere"])))


def dense(ranks):
    """Return ranks that count from 1 in each row; tied items share the first of their ranks."""
    with np.errstate(invalid="ignore"):
        better = (ranks[:, None, :] < ranks[:, :, None]).sum(axis=2) + 1.0
    better[np.isnan(ranks)] = np.nan
    return better


def scores(rng):
    n_items, n_rows = number_of_items(rng), number_of_rows(rng)
    table = np.round(rng.normal(size=(n_rows, n_items)), int(rng.integers(0, 4)))
    table[rng.random(table.shape) < 0.1] = np.nan
    table[:, 0] = rng.normal(size=n_rows)
    return tw.Rankings.from_scores(
        table,
        str(rng.choice(["higher", "lower"])),
        names(rng, n_items),
        tolerance=float(rng.choice([0.0, 0.2])),
    )


def one_ranking(rng):
    n_items = number_of_items(rng)
    return tw.Rankings.from_order_array(rng.permutation(n_items)[None], names(rng, n_items))


def all_tied(rng):
    n_items = number_of_items(rng)
    return tw.Rankings.from_ranks(
        np.ones((number_of_rows(rng), n_items)), names(rng, n_items), ties="allow"
    )


def perfect_agreement(rng):
    n_items = number_of_items(rng)
    orderings = np.tile(rng.permutation(n_items), (number_of_rows(rng), 1))
    return tw.Rankings.from_order_array(orderings, names(rng, n_items))


def agreement_about_tiers(rng):
    """Items of the better tier always come first, in any order."""
    n_items = max(number_of_items(rng), 3)
    cut = int(rng.integers(1, n_items))
    orderings = [
        np.concatenate([rng.permutation(cut), cut + rng.permutation(n_items - cut)])
        for _ in range(number_of_rows(rng))
    ]
    return tw.Rankings.from_order_array(np.array(orderings), names(rng, n_items))


def noise(rng):
    n_items = number_of_items(rng)
    orderings = np.array([rng.permutation(n_items) for _ in range(MOST_ROWS)])
    return tw.Rankings.from_order_array(orderings, names(rng, n_items))


def preferences(rng):
    n_items, n_rows = number_of_items(rng), number_of_rows(rng)
    items, ranked = names(rng, n_items), places(rng, n_items, n_rows)
    rows = [
        (person, items[one], items[other])
        for person, mine in enumerate(ranked)
        for one in range(n_items)
        for other in range(n_items)
        if mine[one] < mine[other] and (rng.random() < 0.5 or (one, other) == (0, 1))
    ]
    rows = rows or [(0, items[0], items[1])]
    return tw.Preferences.from_pairs(rows, items)


def mistaken_preferences(rng):
    n_items = number_of_items(rng)
    items = names(rng, n_items)
    rows = []
    for person in range(number_of_rows(rng)):
        for _ in range(int(rng.integers(1, 6))):
            one, other = rng.permutation(n_items)[:2]
            rows.append((person, items[one], items[other]))
    return tw.Preferences.from_pairs(rows, items, cycles="keep")


def battles(rng):
    n_items = number_of_items(rng)
    items = names(rng, n_items)
    items = tuple(f"{item} {number}".strip() for number, item in enumerate(items))
    rows = []
    for _ in range(int(rng.choice([1, 5, 40, 300]))):
        one, other = rng.permutation(n_items)[:2]
        winner = rng.choice(["model_a", "model_b", "tie"], p=[0.6, 0.3, 0.1])
        row = (items[min(one, other)], items[max(one, other)], str(winner))
        rows.append(row)
    judges = rng.random() < 0.4
    if judges:
        rows = [(*row, f"judge {rng.integers(5)}") for row in rows]
    columns = ("model_a", "model_b", "winner", "judge")[: len(rows[0])]
    table = pa.table(dict(zip(columns, zip(*rows, strict=True), strict=True)))
    return tw.read_battles(table, drawn=str(rng.choice(["half", "drop"])))


def counts(rng):
    return tw.Counts.of(complete(rng))


def scanned(rng):
    """Rankings that stay in a file."""
    folder = Path(os.environ["TIERWISE_RANDOM_CALLS"])
    path = folder / f"scanned.{rng.choice(['csv', 'parquet'])}"
    n_items = number_of_items(rng)
    orderings = places(rng, n_items, number_of_rows(rng)).argsort(axis=1)
    tw.write_rankings(tw.Rankings.from_order_array(orderings, "abcdef"[:n_items]), path)
    return tw.Rankings.scan(path)


def bundled(rng):
    """Some of the answers of a data set that comes with the package, about some of its items."""
    whole = [tw.load_political_goals, tw.load_apa1980, tw.load_word_association, tw.load_llmfao]
    return some_of(rng, whole[rng.integers(len(whole))]())


def preflib(rng):
    """Some of the ballots of a small file of PrefLib; made data where there are none."""
    known = sorted(
        path for path in (SHARED / "preflib").glob("*.*o?") if path.stat().st_size < LARGEST_FILE
    )
    if not known:
        return ties_and_gaps(rng)
    path = known[rng.integers(len(known))]
    unranked = str(rng.choice(["below", "anywhere"]))
    return some_of(rng, tw.read_rankings(path, unranked=unranked, ties="allow"))


def some_of(rng, data):
    if isinstance(data, tw.Battles):
        kept = np.sort(rng.permutation(len(data.items))[: number_of_items(rng)])
        chosen = np.ix_(kept, kept)
        some = tw.Battles(
            tuple(data.items[place] for place in kept), data.decided[chosen], data.drawn[chosen]
        )
        return some if some.n_battles else data
    n_items = min(number_of_items(rng), len(data.items))
    kept = rng.permutation(len(data.items))[:n_items]
    rows = rng.integers(len(data), size=min(number_of_rows(rng), len(data)))
    return data.subset(rows).restrict([data.items[place] for place in kept])


def known_people(rng):
    """Rankings with what is known of people, some of it missing."""
    data = [complete, top_lists, gaps, ties, noise, perfect_agreement][rng.integers(6)](rng)
    n_rows = len(data)
    missing = rng.random(n_rows) < rng.choice([0.0, 0.3, 0.9])
    ages = [
        None if gone else int(age)
        for gone, age in zip(missing, rng.integers(18, 25, n_rows), strict=True)
    ]
    towns = [
        None if gone else str(town)
        for gone, town in zip(missing[::-1], rng.choice(list("xyz"), n_rows), strict=True)
    ]
    share = rng.normal(size=n_rows).round(1)
    return data.with_people(pa.table({"age": ages, "town": towns, "share": share}))


RANKINGS = {
    maker.__name__: maker
    for maker in (
        complete,
        top_lists,
        gaps,
        ties,
        ties_and_gaps,
        scores,
        one_ranking,
        all_tied,
        perfect_agreement,
        agreement_about_tiers,
        noise,
        bundled,
        preflib,
        known_people,
    )
}
KINDS = {
    **RANKINGS,
    **{
        maker.__name__: maker
        for maker in (preferences, mistaken_preferences, battles, counts, scanned)
    },
}
