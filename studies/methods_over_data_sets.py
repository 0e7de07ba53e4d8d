"""Which pairs of methods do tiers separate, and which do tests, when the truth is known?"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from studies.harness import Place, Results, Study
from studies.writing import paragraphs, table
from tierwise import TierwiseWarning, compare
from tierwise._util.tasks import run_tasks
from tierwise.data.frames import make_frame
from tierwise.errors import counted

if TYPE_CHECKING:
    from numpy.random import SeedSequence
    from numpy.typing import NDArray

WAYS = ("tiers", "probability", "nemenyi", "signed ranks")
TRUTHS = ("all equal", "three groups", "all different")
# From the best to the worst, in standard deviations of a score on one data set.
SPREAD = 2.0


@dataclass(frozen=True)
class Settings:
    """How many tables there are for each number of methods, and how large they are."""

    methods: tuple[int, ...] = (5, 15, 40)
    data_sets: tuple[int, ...] = (10, 30, 100)
    tables: tuple[int, ...] = (15, 6, 3)
    sets_with_gaps: int = 30
    gaps: float = 0.2
    seed: int = 35_117


def skills_of(truth: str, n_methods: int) -> NDArray[np.float64]:
    """Return the true skill of each method, best first."""
    if truth == "all equal":
        return np.zeros(n_methods)
    if truth == "all different":
        return np.linspace(SPREAD, 0.0, n_methods)
    groups = np.array_split(np.arange(n_methods), 3)
    return np.repeat([SPREAD, SPREAD / 2, 0.0], [len(one) for one in groups])


def cells_of(settings: Settings) -> list[tuple[str, int, int, float, int]]:
    """Return truth, methods, data sets, share of gaps and number of tables of each cell."""
    found = []
    for n_methods, n_tables in zip(settings.methods, settings.tables, strict=True):
        for truth in TRUTHS:
            sizes = [(n_sets, 0.0) for n_sets in settings.data_sets]
            sizes.append((settings.sets_with_gaps, settings.gaps))
            found += [(truth, n_methods, n_sets, gaps, n_tables) for n_sets, gaps in sizes]
    return found


def name_of(truth: str, n_methods: int, n_sets: int, gaps: float) -> str:
    """Return what a cell is called in the results."""
    return f"{truth}, {n_methods} methods, {n_sets} data sets" + (", gaps" if gaps else "")


def compute(settings: Settings, place: Place) -> Results:
    tasks, names = [], []
    for number, (truth, n_methods, n_sets, gaps, n_tables) in enumerate(cells_of(settings)):
        for seed in np.random.SeedSequence([settings.seed, number]).spawn(n_tables):
            tasks.append((truth, n_methods, n_sets, gaps, seed))
            names.append(name_of(truth, n_methods, n_sets, gaps))
    rows = run_tasks(one_table, tasks, description="methods", workers=place.workers, progress="off")
    results: Results = {}
    for name, row in zip(names, rows, strict=True):
        kept = results.setdefault(name, {way: [0, 0, 0, 0, 0] for way in WAYS})
        for way, counts in row.items():
            kept[way] = [one + other for one, other in zip(kept[way], counts, strict=True)]
    return results


def one_table(
    truth: str, n_methods: int, n_sets: int, gaps: float, seed: SeedSequence
) -> dict[str, list[int]]:
    """Compare the methods of one simulated table, and count pairs by each way to compare them.

    Each has the number of tables (1), of pairs that differ, of those that are separated rightly and
    wrongly, and of tied pairs that are separated.
    """
    rng = np.random.default_rng(seed)
    skills = skills_of(truth, n_methods)
    # What a data set adds to all scores changes no ranks and no differences.
    scores = rng.normal(skills, 1.0, (n_sets, n_methods))
    if gaps:
        scores[rng.random(scores.shape) < gaps] = np.nan
    names = [f"m{number}" for number in range(n_methods)]
    frame = make_frame(dict(zip(names, scores.T, strict=True)), "pyarrow")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TierwiseWarning)
        compared = compare(
            frame, "higher", draws=250, workers=1, progress="off", rng=int(rng.integers(2**31))
        )
    own = np.array([skills[names.index(str(method))] for method in compared.methods])
    truly = own[:, None] > own
    tied = np.triu(own[:, None] == own, k=1)
    return {
        way: [
            1,
            int(truly.sum()),
            int((better & truly).sum()),
            int((better & truly.T).sum()),
            int(((better | better.T) & tied).sum()),
        ]
        for way, better in compared.verdicts().items()
    }


def n_pairs(n_methods: int) -> int:
    """Return the number of pairs of methods."""
    return n_methods * (n_methods - 1) // 2


def tell(results: Results, settings: Settings) -> str:
    titles = {
        "tiers": "tiers",
        "probability": "P >= 95%",
        "nemenyi": "Nemenyi",
        "signed ranks": "signed ranks",
    }
    differ, wrong, alike = [], 0, []
    n_differ = dict.fromkeys(WAYS, 0)
    n_wrong = dict.fromkeys(WAYS, 0)
    for truth, n_methods, n_sets, gaps, _ in cells_of(settings):
        found = results[name_of(truth, n_methods, n_sets, gaps)]
        head = [truth, str(n_methods), f"{n_sets}{', gaps' if gaps else ''}"]
        if truth != "all equal":
            differ.append([*head, *(_share(found[way][2], found[way][1]) for way in WAYS)])
        if truth != "all different":
            pairs = {way: found[way][0] * n_pairs(n_methods) - found[way][1] for way in WAYS}
            alike.append([*head, *(_share(found[way][4], pairs[way]) for way in WAYS)])
        for way in WAYS:
            n_differ[way] += found[way][1]
            n_wrong[way] += found[way][3]
            wrong += found[way][3]
    columns = ["truth", "methods", "data sets", *(titles[way] for way in WAYS)]
    missing = f"{settings.gaps:.0%}"
    return paragraphs(
        "Scores of methods on data sets are normal, with a standard deviation of 1 around the "
        "skill of each method. All skills are equal, or in three groups, or evenly spaced; from "
        f"the best to the worst they are {SPREAD:g} apart. Where there are gaps, {missing} of the "
        "scores are missing at random. There are "
        + ", ".join(
            f"{counted(n_tables, 'table')} of {n_methods} methods"
            for n_methods, n_tables in zip(settings.methods, settings.tables, strict=True)
        )
        + " for each row. Four ways to compare methods are asked which pairs differ: the most "
        "probable tiers; a probability of 95% that one method is in a better tier; Nemenyi's test "
        "at 0.05, where Friedman's is significant, on data sets without gaps; and Bayesian signed "
        "ranks with 95%.",
        "The share of differing pairs that are separated, in the right order. A dash means that "
        "the test could not be made: too few data sets were without gaps.",
        table(columns, differ),
        "Pairs that are separated in the wrong order: "
        + ", ".join(f"{n_wrong[way]:,} of {n_differ[way]:,} ({titles[way]})" for way in WAYS)
        + ".",
        "The share of equally good pairs that are separated.",
        table(columns, alike),
        "Tiers are one answer about all methods, not a test of each pair. Nemenyi's test guards "
        "against a single error among all pairs. Signed ranks look at one pair at a time, and use "
        "the size of differences, which is right here: all data sets have the same scale.",
    )


def _share(number: int, of: int) -> str:
    if not of:
        return "-"
    share = number / of
    return f"{100 * share:.1f}%" if 0 < share < 1 else f"{100 * share:.0f}%"


STUDY = Study(
    name="methods-over-data-sets",
    title="Which pairs of methods do tiers separate, and which do tests?",
    full=Settings(),
    quick=Settings(methods=(5,), data_sets=(10,), tables=(2,), sets_with_gaps=12),
    compute=compute,
    tell=tell,
    page="simulations",
)
