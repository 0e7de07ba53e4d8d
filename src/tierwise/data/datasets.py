"""Small published data sets, and loaders for data that cannot be distributed."""

from collections.abc import Iterable, Sequence
from itertools import permutations
from os import PathLike
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from tierwise._util.checks import check_choice, check_count, check_path
from tierwise._util.types import Unranked
from tierwise.data.battles import Battles
from tierwise.data.rankings import Rankings
from tierwise.data.read_battles import read_battles
from tierwise.errors import InputError, quoted

Region: TypeAlias = Literal[
    "Hokkaido",
    "Tohoku",
    "Hokuriku",
    "Kanto+Shizuoka",
    "Nagano+Yamanashi",
    "Chukyo",
    "Kinki",
    "Chugoku",
    "Shikoku",
    "Kyushu",
    "Okinawa",
    "Foreign",
]
Word: TypeAlias = Literal["idea", "song"]

# Frequencies of all orderings of the items, in the order 1234, 1243, 1324, ...
_POLITICAL_GOALS = """
137 29 309 255 52 93 48 23 61 55 33 59 330 294 117 69 70 34 21 30 29 52 35 27
"""
_APA_1980 = """
30 28 27 35 29 34 102 95 45 50 70 70 35 28 24 17 48 35 37 35 51 36 52 40
40 30 26 42 24 36 34 30 16 29 22 11 42 34 23 19 45 46 40 30 31 25 50 50
172 186 96 79 162 106 74 82 40 50 52 35 35 36 35 26 30 28 87 45 38 34 38 43
52 52 28 21 53 34 75 64 51 24 66 44 28 27 35 22 24 24 133 61 84 49 54 67
53 45 44 40 63 35 34 41 24 26 58 54 62 41 30 22 34 37 107 71 91 57 31 29
"""
# Items, and the frequencies of the orderings that occur.
_WORD_ASSOCIATION: dict[Word, tuple[str, str]] = {
    "idea": (
        "thought play theory dream attention",
        "13425:12 13452:33 13524:1 13542:6 14325:8 14352:18 14532:5 15342:2 31245:1 31452:5 "
        "34125:2 41325:2 41532:1 43251:1 52431:1",
    ),
    "song": (
        "score instrument solo benediction suit",
        "12345:7 13245:9 21345:4 23145:6 23415:2 31245:10 31425:3 32145:19 32154:6 32415:8 "
        "32451:5 32541:2 34215:2",
    ),
}
_SUSHI = (
    "shrimp",
    "sea eel",
    "tuna",
    "squid",
    "sea urchin",
    "salmon roe",
    "egg",
    "fatty tuna",
    "tuna roll",
    "cucumber roll",
)


# From the f1db project, CC BY 4.0.
_F1_RESULTS = Path(__file__).with_name("f1db_2015_2016_results.csv")


def load_political_goals() -> Rankings:
    """Load 2262 German rankings of four political goals.

    The goals are maintaining order in the nation (``order``), giving people more say in decisions
    of the government (``say``), fighting rising prices (``prices``) and protecting freedom of
    speech (``speech``).

    References
    ----------
    M. A. Croon (1989). Latent class models for the analysis of rankings. In G. De Soete, H. Feger
    and K. C. Klauer (eds.), New Developments in Psychological Choice Modeling, 99-121.

    Examples
    --------
    >>> load_political_goals()
    Rankings(2,262 rankings of 4 items, complete, 24 distinct)
    """
    return _from_all_orderings(("order", "say", "prices", "speech"), _POLITICAL_GOALS)


def load_llmfao() -> Battles:
    """Load 8,931 votes on the answers of 59 language models, pair by pair, by 124 crowd workers.

    Workers saw the answers of two models to one of 13 prompts, and said which was better, or that
    neither was; 3,471 of the votes are ties. The table holds, for each worker and pair of models,
    how often each was preferred.

    Notes
    -----
    Votes by D. Ustalov, LLMFAO: Large Language Model Feedback Analysis and Optimization,
    https://github.com/dustalov/llmfao, licensed under CC BY 4.0
    (https://creativecommons.org/licenses/by/4.0/). Changed: the votes are counted by worker and
    pair, and prompts are left out.

    Examples
    --------
    >>> load_llmfao()
    Battles(8,931 battles of 59 items, 3,471 drawn: half to each side, by 124 judges)
    """
    from gzip import decompress
    from importlib.resources import files
    from io import BytesIO

    packed = (files("tierwise.data") / "llmfao.csv.gz").read_bytes()
    return read_battles(BytesIO(decompress(packed)), format="csv")


def load_apa1980() -> Rankings:
    """Load the 5738 complete ballots of the American Psychological Association's 1980 election.

    Voters ranked five candidates for president, here A to E.

    References
    ----------
    P. Diaconis (1988). Group Representations in Probability and Statistics, p. 96.

    Examples
    --------
    >>> load_apa1980()
    Rankings(5,738 rankings of 5 items, complete, 120 distinct)
    """
    return _from_all_orderings(tuple("ABCDE"), _APA_1980)


def load_word_association(word: Word = "idea") -> Rankings:
    """Load rankings of five words by how close they are to a given one.

    Parameters
    ----------
    word
        "idea" (98 students) or "song" (83 students).

    References
    ----------
    M. A. Fligner and J. S. Verducci (1986). Distance based ranking models. Journal of the Royal
    Statistical Society B 48, 359-369 ("idea").

    D. E. Critchlow, M. A. Fligner and J. S. Verducci (1991). Probability models on rankings.
    Journal of Mathematical Psychology 35, 294-318 ("song").

    Examples
    --------
    >>> load_word_association("song")
    Rankings(83 rankings of 5 items, complete, 13 distinct)
    """
    check_choice("word", word, get_args(Word))
    items, table = _WORD_ASSOCIATION[word]
    entries = [entry.split(":") for entry in table.split()]
    orderings = [[int(digit) - 1 for digit in ordering] for ordering, _ in entries]
    return _from_frequencies(items.split(), orderings, [int(count) for _, count in entries])


def _from_all_orderings(items: Sequence[str], frequencies: str) -> Rankings:
    counts = [int(count) for count in frequencies.split()]
    return _from_frequencies(items, permutations(range(len(items))), counts)


def _from_frequencies(
    items: Sequence[str], orderings: Iterable[Iterable[int]], counts: list[int]
) -> Rankings:
    positions = np.array([list(ordering) for ordering in orderings])
    return Rankings.from_order_array(positions, items, counts)


def load_sushi(path: str | PathLike[str], region: Region | None = None) -> Rankings:
    """Load the sushi preferences of 5000 people in Japan, ten kinds of sushi each.

    The data are free for research but must not be redistributed, so they are not part of this
    package. Get them from Toshihiro Kamishima's page "SUSHI Preference Data Sets".

    Parameters
    ----------
    path
        The folder that holds ``sushi3a.5000.10.order`` and ``sushi3.udata``. If the second is
        there, `Rankings.people` has sex, age (from which years on: 15, 20, 30, ...), region
        (where people lived for the longest time until they were 15), half (east or west of Japan),
        and both for where they live now.
    region
        Keep only people of this region.

    References
    ----------
    T. Kamishima (2003). Nantonac collaborative filtering: recommendation based on order responses.
    KDD 2003, 583-588.

    Examples
    --------
    >>> load_sushi("sushi3-2016", region="Tohoku")  # doctest: +SKIP
    Rankings(280 rankings of 10 items, complete, 280 distinct)
    """
    from tierwise.data.read import read_rankings

    terms = (
        "get sushi3-2016.zip from T. Kamishima's page 'SUSHI Preference Data Sets' and unpack it "
        "(free for research; must not be redistributed)"
    )
    folder = check_path(path)
    numbered = read_rankings(_present(folder / "sushi3a.5000.10.order", terms), format="sushi")
    rankings = Rankings(_SUSHI, numbered.patterns[numbered.pattern_of])
    if region is None and not (folder / "sushi3.udata").exists():
        return rankings
    known = np.loadtxt(_present(folder / "sushi3.udata", terms), dtype=np.int64, ndmin=2)
    if len(known) != len(rankings):
        raise InputError(
            f"sushi3.udata describes {len(known)} people, but there are {len(rankings)} rankings: "
            "take both files from the same download"
        )
    rankings = rankings.with_people(_sushi_people(known))
    if region is None:
        return rankings
    check_choice("region", region, get_args(Region))
    return rankings.subset(known[:, 5] == get_args(Region).index(region))


def _sushi_people(known: NDArray[np.int64]) -> Any:
    """Name what the user file says in codes."""
    import pyarrow as pa

    regions = np.array(get_args(Region))
    halves = np.array(["east", "west"])
    return pa.table(
        {
            "sex": np.array(["male", "female"])[known[:, 1]],
            "age": np.array([15, 20, 30, 40, 50, 60])[known[:, 2]],
            "region": regions[known[:, 5]],
            "half": halves[known[:, 6]],
            "region now": regions[known[:, 8]],
            "half now": halves[known[:, 9]],
        }
    )


def load_f1(
    path: str | PathLike[str] | None = None,
    *,
    minimum_entries: int = 11,
    unranked: Unranked = "below",
) -> Rankings:
    """Load results of Formula 1 races, one answer per race and one item per driver.

    The results of 2015 and 2016 come with this package. They are from the f1db project
    (https://github.com/f1db/f1db), licensed under CC BY 4.0: name the source if you publish them.

    Parameters
    ----------
    path
        Another CSV file of race results, with the columns year, round, positionText and driverId.
    minimum_entries
        Leave out drivers who entered fewer races.
    unranked
        What it means if a driver is not among the finishers of a race. "below" ranks all of them
        after the finishers, including those who did not enter; "anywhere" leaves their ranks
        unknown.

    Examples
    --------
    >>> load_f1()
    Rankings(40 rankings of 25 items, 40 incomplete: not listed = below)
    """
    import csv

    check_count("minimum_entries", minimum_entries, least=0)
    terms = "get the race results as CSV from the f1db project (CC BY 4.0: name the source)"
    table = _F1_RESULTS if path is None else _present(check_path(path), terms)
    entries: dict[str, int] = {}
    finishers: dict[tuple[str, str], dict[int, str]] = {}
    with table.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file)
        missing = {"year", "round", "positionText", "driverId"} - set(rows.fieldnames or ())
        if missing:
            raise InputError(f"{table.name} has no column {quoted(min(missing))}: {terms}")
        for row in rows:
            driver = row["driverId"].replace("-", " ").title()
            entries[driver] = entries.get(driver, 0) + 1
            race = finishers.setdefault((row["year"], row["round"]), {})
            if row["positionText"].isdecimal():
                race[int(row["positionText"])] = driver
    drivers = [driver for driver, count in entries.items() if count >= minimum_entries]
    orderings = [
        [race[place] for place in sorted(race) if race[place] in drivers]
        for race in finishers.values()
    ]
    return Rankings.from_orderings(orderings, items=drivers, unranked=unranked)


def _present(path: Path, terms: str) -> Path:
    if not check_path(path).is_file():
        raise InputError(f"the file {path} does not exist: {terms}")
    return path
