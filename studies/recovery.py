"""Which differences are found, and which are made up, beside Bradley-Terry with intervals?"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np

import tierwise as tw
from studies.harness import Place, Results, Study
from studies.prior_of_sizes import CERTAINTY, SPREAD
from studies.truths import fight, race
from studies.writing import paragraphs, percent, table
from tierwise._util.tasks import run_tasks
from tierwise.answers.races import races_of
from tierwise.luce.worths import best_worths

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Claims = NDArray[np.bool_]

# By the names of the columns: what calls one item better than another.
TIERS, SURE, WALD, HOLM = "best tiers", "P >= 0.95", "Wald intervals", "Wald, Holm"
METHODS = (SURE, WALD, HOLM, TIERS)


@dataclass(frozen=True)
class Settings:
    """Kinds of answers with how many items, true tiers, answers, and data sets of each."""

    cases: tuple[tuple[str, int, int, int, int], ...] = (
        ("battles", 10, 1, 500, 20),
        ("battles", 10, 3, 500, 20),
        ("battles", 10, 10, 500, 20),
        ("battles", 30, 5, 3_000, 12),
        ("battles", 30, 30, 3_000, 12),
        ("battles", 100, 10, 20_000, 20),
        ("battles", 100, 100, 20_000, 20),
        ("battles", 300, 15, 100_000, 10),
        ("battles", 300, 300, 100_000, 10),
        ("rankings", 10, 3, 50, 20),
        ("rankings", 10, 10, 50, 20),
        ("rankings", 30, 5, 50, 10),
        ("rankings", 30, 30, 50, 10),
    )
    draws: int = 400
    seed: int = 20614


def compute(settings: Settings, place: Place) -> Results:
    results: Results = {}
    for number, (kind, n_items, n_tiers, n_answers, n_sets) in enumerate(settings.cases):
        rows = run_tasks(
            one_data_set,
            [
                (kind, n_items, n_tiers, n_answers, settings.draws, [settings.seed, number, one])
                for one in range(n_sets)
            ],
            description="recovery",
            workers=place.workers,
            progress="off",
        )
        results[f"{n_answers:,} {kind}, {n_items} items, {_worths(n_tiers, n_items)}"] = {
            "sets": n_sets,
            **{name: _mean([row[name] for row in rows]) for name in METHODS},
        }
    return results


def _worths(n_tiers: int, n_items: int) -> str:
    if n_tiers == 1:
        return "all equal"
    return "all different" if n_tiers == n_items else f"{n_tiers} tiers"


def _mean(rows: list[dict[str, float | None]]) -> dict[str, float | None]:
    """Average what there is: sets without tied pairs, or without differences, do not count."""
    found: dict[str, float | None] = {}
    for measure in rows[0]:
        values = [value for row in rows if (value := row[measure]) is not None]
        found[measure] = fmean(values) if values else None
    return found


def one_data_set(
    kind: str, n_items: int, n_tiers: int, n_answers: int, n_draws: int, seed: list[int]
) -> dict[str, dict[str, float | None]]:
    """Draw answers to items with known worths, and judge what each method calls different."""
    rng = np.random.default_rng(seed)
    labels = np.r_[np.arange(n_tiers), rng.integers(n_tiers, size=n_items - n_tiers)]
    log_worths = np.sort(SPREAD * rng.normal(size=n_tiers))[labels]
    draw = fight if kind == "battles" else race
    data = draw(log_worths, n_answers, rng)
    truth = np.sign(log_worths[:, None] - log_worths)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tw.TierwiseWarning)
        posterior = tw.sample_posterior(
            data, family="luce", chains=2, draws=n_draws, workers=1, progress="off", rng=seed[-1]
        )
    best = tw.search(data, family="luce", progress="off").best.tiers.label_array(data.items)
    wald = wald_claims(data, 1 - CERTAINTY)
    claims = {
        TIERS: best[:, None] < best,
        SURE: posterior.above_probabilities().to_numpy() >= CERTAINTY,
        WALD: wald["each"],
        HOLM: wald["all"],
    }
    return {name: _judged(claimed, truth) for name, claimed in claims.items()}


def wald_claims(data: tw.Rankings | tw.Battles, alpha: float) -> dict[str, Claims]:
    """Call items different whose log worths, one per item, differ by their standard errors.

    Parameters
    ----------
    data
        The answers.
    alpha
        Probability of an error: for "each" pair, or for "all" pairs together (Holm's method).
    """
    from scipy.special import erfc

    races = races_of(data)
    found = best_worths(races, np.arange(races.n_items))
    apart = found.logs[:, None] - found.logs
    spread = np.diag(found.covariance)
    variances = spread[:, None] + spread - 2 * found.covariance
    np.fill_diagonal(variances, 1.0)
    p_values = erfc(np.abs(apart) / np.sqrt(2 * variances))
    upper = np.triu_indices(races.n_items, 1)
    ordered = np.sort(p_values[upper])
    bounds = alpha / np.arange(len(ordered), 0, -1)
    n_rejected = int(np.argmax(np.r_[ordered > bounds, True]))
    largest = ordered[n_rejected - 1] if n_rejected else -1.0
    return {
        "each": (p_values < alpha) & (apart > 0),
        "all": (p_values <= largest) & (apart > 0),
    }


def _judged(claimed: Claims, truth: Floats) -> dict[str, float | None]:
    """Return which share of differences is found, and which share of tied pairs called different.

    ``claimed`` and ``truth`` say of the row whether it is better than the column.
    """
    n_tied = int(np.triu(truth == 0, 1).sum())
    n_different = int((truth > 0).sum())
    made_up = int((claimed & (truth == 0)).sum())
    reversed_ = int((claimed & (truth < 0)).sum())
    return {
        "found": (claimed & (truth > 0)).sum() / n_different if n_different else None,
        "reversed": reversed_ / n_different if n_different else None,
        "made up": made_up / n_tied if n_tied else None,
        "any error": float(made_up + reversed_ > 0),
    }


def tell(results: Results, settings: Settings) -> str:  # noqa: ARG001
    def shown(share: float | None) -> str:
        return "" if share is None else percent(share)

    def columns(measure: str) -> list[list[str]]:
        return [
            [case, str(one["sets"]), *(shown(one[name][measure]) for name in METHODS)]
            for case, one in results.items()
        ]

    def worst(name: str, measure: str) -> str:
        return percent(max(one[name][measure] or 0.0 for one in results.values()))

    def gaps(name: str) -> list[float]:
        """Percentage points of the differences that a method finds beyond P >= 0.95, by row."""
        return [
            100 * (one[name]["found"] - one[SURE]["found"])
            for one in results.values()
            if one[SURE]["found"] is not None
        ]

    def gap(name: str) -> str:
        return f"{max(gaps(name)):.0f} percentage points"

    def fewer(name: str) -> str:
        return f"{-max(gaps(name)):.0f} to {-min(gaps(name)):.0f} percentage points"

    head = ["", "data sets", *METHODS]
    return paragraphs(
        "Answers to items whose worths are known: log worths are normal with a standard deviation "
        f"of {SPREAD:g}, one per tier, or one per item where all are different. Which pairs are "
        f"called different? *{SURE}*: one item is better with a probability of {CERTAINTY:.0%} or "
        'more, by `sample_posterior(family="luce")`. *Wald intervals*: one worth per item '
        "(Bradley-Terry, Plackett-Luce), and the difference of two log worths is more than 1.96 "
        "standard errors. *Holm*: the same, corrected for the number of pairs, so that one error "
        f"or more is made with a probability of {1 - CERTAINTY:.0%} at most. "
        f"*{TIERS.capitalize()}*: the two are in different tiers of the most probable ones. First "
        "the share of tied pairs that are called different:",
        table(head, [row for row in columns("made up") if any(row[2:])]),
        "The share of true differences that are found, in the right order:",
        table(head, [row for row in columns("found") if any(row[2:])]),
        "The share of true differences that are claimed the wrong way round:",
        table(head, [row for row in columns("reversed") if any(row[2:])]),
        "And the share of data sets in which at least one claim is wrong:",
        table(head, columns("any error")),
        f"With *{SURE}* at most {worst(SURE, 'made up')} of the tied pairs are called different in "
        f"any row, with single intervals up to {worst(WALD, 'made up')}: the posterior learns from "
        "all items how many ties there are. With few answers it pays for this: it finds up "
        f"to {gap(WALD)} fewer of the true differences than single intervals do. Holm's method, "
        f"the only one that keeps all claims together free of errors, finds {fewer(HOLM)} fewer "
        "than the posterior. The lines between the best tiers find most differences and claim most "
        f"false ones, up to {worst(TIERS, 'made up')} of the tied pairs: they are an overview, not "
        "claims about pairs.",
    )


STUDY = Study(
    name="recovery",
    title="Which differences are found, beside Bradley-Terry with intervals?",
    full=Settings(),
    quick=Settings(cases=(("battles", 10, 3, 200, 1), ("rankings", 10, 10, 20, 1)), draws=50),
    compute=compute,
    tell=tell,
    page="simulations",
)
