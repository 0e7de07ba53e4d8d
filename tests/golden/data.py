"""Data of every kind, bundled or made, that are the same on every machine.

What is made comes from `random.Random.random`, whose numbers Python promises not to change; NumPy's
generators make no such promise.
"""

from functools import cache
from random import Random

import tierwise as tw

ITEMS = "abcdefghij"


def _orderings(n_items, n_rows, decay, seed):
    """Draw orderings by repeated insertion: the smaller the decay, the closer to the alphabet."""
    random = Random(seed)
    rows = []
    for _ in range(n_rows):
        row = []
        for number, item in enumerate(ITEMS[:n_items]):
            weights = [decay**behind for behind in range(number + 1)]
            left, behind = random.random() * sum(weights), 0
            while left > weights[behind] and behind < number:
                left -= weights[behind]
                behind += 1
            row.insert(number - behind, item)
        rows.append(row)
    return rows


def _with_ties(rows, seed):
    """Tie neighbours at random."""
    random = Random(seed)
    tied = []
    for row in rows:
        groups = [[row[0]]]
        for item in row[1:]:
            if random.random() < 0.3:
                groups[-1].append(item)
            else:
                groups.append([item])
        tied.append(groups)
    return tied


def seven():
    """Complete rankings of seven items."""
    return tw.Rankings.from_orderings(_orderings(7, 60, 0.7, seed=1), items=ITEMS[:7])


def nine():
    """Complete rankings of nine items in three tiers: people do not agree within these."""
    random = Random(2)
    rows = []
    for row in _orderings(3, 90, 0.5, seed=3):
        tiers = {"a": list("abc"), "b": list("defg"), "c": list("hi")}
        ordered = []
        for name in row:
            ordered += sorted(tiers[name], key=lambda _: random.random())
        rows.append(ordered)
    return tw.Rankings.from_orderings(rows, items=ITEMS[:9])


def weighted():
    """Complete rankings with weights that are not whole numbers."""
    random = Random(4)
    rows = _orderings(6, 30, 0.6, seed=5)
    weights = [0.25 + 2.0 * random.random() for _ in rows]
    return tw.Rankings.from_orderings(rows, items=ITEMS[:6], weights=weights, weights_are="counts")


def unanimous():
    """Answers that are all the same: theta is infinite."""
    return tw.Rankings.from_orderings([list("abcde")] * 12)


def noise():
    """Orderings that were all equally probable."""
    return tw.Rankings.from_orderings(_orderings(5, 40, 1.0, seed=6), items=ITEMS[:5])


def nearly_unanimous():
    """Everybody agrees about the first item and the last: one theta of several is infinite."""
    middle = _orderings(3, 25, 0.8, seed=7)
    names = dict(zip("abc", "bcd", strict=True))
    rows = [["a", *(names[item] for item in row), "e"] for row in middle]
    return tw.Rankings.from_orderings(rows, items=ITEMS[:5])


def tied():
    """Rankings of all items, with ties."""
    return tw.Rankings.from_orderings(
        _with_ties(_orderings(6, 40, 0.6, seed=8), seed=9), items=ITEMS[:6]
    )


def top():
    """The three best of seven items; all others are below."""
    rows = [row[:3] for row in _orderings(7, 60, 0.6, seed=10)]
    return tw.Rankings.from_orderings(rows, items=ITEMS[:7], unranked="below")


def top_of_ten():
    """The one to four best of ten items; all others are below."""
    random = Random(11)
    rows = [row[: 1 + int(4 * random.random())] for row in _orderings(10, 80, 0.7, seed=12)]
    return tw.Rankings.from_orderings(rows, items=ITEMS[:10], unranked="below")


def gaps():
    """Some of six items in order; the others may be anywhere."""
    random = Random(13)
    rows = []
    for row in _orderings(6, 30, 0.6, seed=14):
        kept = [item for item in row if random.random() < 0.7]
        rows.append(kept if len(kept) > 1 else row)
    return tw.Rankings.from_orderings(rows, items=ITEMS[:6], unranked="anywhere")


def pairs():
    """Pairwise answers of people who do not contradict themselves."""
    random = Random(15)
    answers = {}
    for person, row in enumerate(_orderings(5, 25, 0.5, seed=16)):
        places = {item: place for place, item in enumerate(row)}
        said = []
        for one in ITEMS[:5]:
            for other in ITEMS[:5]:
                if one < other and random.random() < 0.6:
                    first = places[one] < places[other]
                    said.append((one, other) if first else (other, one))
        answers[person] = said or [(row[0], row[1])]
    return tw.Preferences(answers, items=ITEMS[:5])


def battles():
    """Battles of eight items, of which some are drawn."""
    random = Random(17)
    rows = []
    for _ in range(400):
        one, other = sorted(random.sample(range(8), 2))
        left = random.random()
        clear = one // 3 != other // 3
        winner = ITEMS[one] if left < (0.7 if clear else 0.45) else ITEMS[other]
        rows.append((ITEMS[one], ITEMS[other], "tie" if 0.42 < left < 0.5 else winner))
    return tw.Battles.from_rows(rows)


def few_battles():
    """Battles of five items, none of them drawn."""
    random = Random(18)
    rows = []
    for _ in range(60):
        one, other = sorted(random.sample(range(5), 2))
        rows.append((ITEMS[one], ITEMS[other], ITEMS[one if random.random() < 0.75 else other]))
    return tw.Battles.from_rows(rows)


def people():
    """Rankings with what is known of people: a column that matters, and one that does not."""
    import pyarrow as pa

    random = Random(19)
    young = _orderings(4, 40, 0.5, seed=20)
    turned = dict(zip("abcd", "cdab", strict=True))
    old = [[turned[item] for item in row] for row in _orderings(4, 40, 0.5, seed=21)]
    table = {
        "age": ["young"] * 40 + ["old"] * 40,
        "coin": ["heads" if random.random() < 0.5 else "tails" for _ in range(80)],
    }
    rankings = tw.Rankings.from_orderings(young + old, items=ITEMS[:4])
    return rankings.with_people(pa.table(table))


def two_groups():
    """Two groups of people whose tiers are far apart."""
    turned = dict(zip("abcde", "edcba", strict=True))
    rows = _orderings(5, 60, 0.35, seed=22)
    rows += [[turned[item] for item in row] for row in _orderings(5, 40, 0.35, seed=23)]
    return tw.Rankings.from_orderings(rows, items=ITEMS[:5])


_MAKERS = {
    "goals": tw.load_political_goals,
    "apa": tw.load_apa1980,
    "idea": lambda: tw.load_word_association("idea"),
    "song": lambda: tw.load_word_association("song"),
    "f1": tw.load_f1,
    "llmfao": tw.load_llmfao,
    "counts": lambda: tw.Counts.of(seven()),
    "seven": seven,
    "nine": nine,
    "weighted": weighted,
    "unanimous": unanimous,
    "noise": noise,
    "nearly unanimous": nearly_unanimous,
    "tied": tied,
    "top": top,
    "top of ten": top_of_ten,
    "gaps": gaps,
    "pairs": pairs,
    "battles": battles,
    "few battles": few_battles,
    "people": people,
    "two groups": two_groups,
}


@cache
def data(name):
    """Return data by their name."""
    return _MAKERS[name]()
