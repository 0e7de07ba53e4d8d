"""Do rank intervals of a leaderboard cover, do its probabilities come true, are its tiers right?"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

from studies.harness import Place, Results, Study
from studies.writing import paragraphs, sizes_text, table
from tierwise import Battles, Priors, TierwiseWarning, leaderboard
from tierwise._util.tasks import run_tasks
from tierwise.partition.gaussian import pair_probabilities

if TYPE_CHECKING:
    from numpy.random import Generator, SeedSequence
    from numpy.typing import NDArray

    from tierwise.tiers import Sizes

LEVEL, BEST = 0.9, 3
# Probabilities are put together that lie between these.
BOUNDS = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
CLAIMS = {"best": f"among the best {BEST}", "next": "better than the next"}


@dataclass(frozen=True)
class Settings:
    """Truths drawn from the prior, and truths with given tiers."""

    n_items: int = 10
    battles: tuple[int, ...] = (300, 3000)
    prior_sets: int = 60
    sizes: Sizes = (5, 5, 5, 5, 5, 5)
    theta: float = 0.1
    tier_battles: int = 5000
    tier_sets: int = 20
    draws: int = 300
    seed: int = 31_415


def compute(settings: Settings, place: Place) -> Results:
    results: Results = {}
    for n_battles in settings.battles:
        seeds = np.random.SeedSequence([settings.seed, n_battles]).spawn(settings.prior_sets)
        tasks = [(settings.n_items, n_battles, settings.draws, seed) for seed in seeds]
        found = run_tasks(
            one_from_the_prior, tasks, description="prior", workers=place.workers, progress="off"
        )
        results[f"{n_battles} battles"] = {
            "covered": fmean(covered for one in found for covered in one["covered"]),
            **{
                claim: _by_probability([pair for one in found for pair in one[claim]])
                for claim in CLAIMS
            },
        }
    seeds = np.random.SeedSequence([settings.seed, 0]).spawn(settings.tier_sets)
    tiers = run_tasks(
        one_with_tiers,
        [(settings, seed) for seed in seeds],
        description="tiers",
        workers=place.workers,
        progress="off",
    )
    results["tiers"] = {
        name: [fmean(one[name][0] for one in tiers), fmean(one[name][1] for one in tiers)]
        for name in tiers[0]
    }
    return results


def simulate(sizes: Sizes, theta: float, n_battles: int, rng: Generator) -> Battles:
    """Let items that are numbered from the best tier fight, every two with equal probability."""
    n_items = sum(sizes)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    first = rng.integers(n_items, size=n_battles)
    second = (first + 1 + rng.integers(n_items - 1, size=n_battles)) % n_items
    won = rng.random(n_battles) < pair_probabilities(sizes, theta)[labels[first], labels[second]]
    wins = np.zeros((n_items, n_items))
    np.add.at(wins, (np.where(won, first, second), np.where(won, second, first)), 1.0)
    return Battles(tuple(map(str, range(n_items))), wins, np.zeros_like(wins))


def one_from_the_prior(
    n_items: int, n_battles: int, n_draws: int, seed: SeedSequence
) -> dict[str, list[Any]]:
    """Compare what a leaderboard says with a truth that was drawn from the prior."""
    rng = np.random.default_rng(seed)
    labels = np.concatenate([[0], np.cumsum(rng.random(n_items - 1) < 0.5)])
    sizes = tuple(np.bincount(labels).tolist())
    data = simulate(sizes, float(rng.gamma(2.0, 0.5)), n_battles, rng)
    ranks = np.lexsort((rng.random(n_items), labels)).argsort() + 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TierwiseWarning)  # few draws
        board = leaderboard(
            data,
            level=LEVEL,
            k=BEST,
            priors=Priors(sizes="uniform"),
            chains=2,
            draws=n_draws,
            progress="off",
            rng=1,
        )
    found: dict[str, list[Any]] = {"covered": [], "best": [], "next": []}
    for row in board.rows:
        rank = int(ranks[_number(row.item)])
        found["covered"].append(row.rank_low <= rank <= row.rank_high)
        found["best"].append((row.best_k_probabilities[0], rank <= BEST))
        if row.better_than_next is not None and row.next_item is not None:
            better = bool(labels[_number(row.item)] < labels[_number(row.next_item)])
            found["next"].append((row.better_than_next, better))
    return found


def _number(item: object) -> int:
    return int(str(item))


def one_with_tiers(settings: Settings, seed: SeedSequence) -> dict[str, tuple[float, float]]:
    """Return which differences are found, and how many tied pairs are parted, by each rule."""
    rng = np.random.default_rng(seed)
    data = simulate(settings.sizes, settings.theta, settings.tier_battles, rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TierwiseWarning)
        board = leaderboard(data, draws=settings.draws, progress="off", rng=1)
    truth = np.repeat(np.arange(len(settings.sizes)), settings.sizes)
    rules = {"most probable tiers": board.fit.tiers, "tiers of the leaderboard": board.tiers}
    found = {
        name: _rates(_order_of_pairs(tiers.label_array(data.items)), truth)
        for name, tiers in rules.items()
    }
    places = np.argsort([data.items.index(row.item) for row in board.rows])
    sure = board.above_probabilities[np.ix_(places, places)] >= board.certainty
    words = f"pairs with probability {board.certainty:.0%} or more"
    return {**found, words: _rates(sure.astype(int) - sure.T, truth)}


def _order_of_pairs(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """1 where the row's item is better than the column's, -1 where it is worse, 0 for ties."""
    order: NDArray[np.int64] = np.sign(labels[None, :] - labels[:, None])
    return order


def _rates(said: NDArray[np.int64], truth: NDArray[np.int64]) -> tuple[float, float]:
    upper = np.triu_indices(len(truth), k=1)
    said, wanted = said[upper], _order_of_pairs(truth)[upper]
    differ = wanted != 0
    return float((said == wanted)[differ].mean()), float((said[~differ] != 0).mean())


def _by_probability(pairs: list[tuple[float, bool]]) -> list[list[float]]:
    """Number of claims, mean probability, and share that came true, by probability."""
    said, happened = np.array(pairs, dtype=np.float64).T
    which = np.digitize(said, BOUNDS[1:-1])
    groups = [which == number for number in range(len(BOUNDS) - 1)]
    return [
        [int(group.sum()), float(said[group].mean()), float(happened[group].mean())]
        for group in groups
        if group.any()
    ]


def tell(results: Results, settings: Settings) -> str:
    parts = [
        f"Battles of {settings.n_items} items whose tiers and theta were drawn from the prior, "
        f"{settings.prior_sets} data sets each. Rank intervals at level {LEVEL:.0%} hold the true "
        "rank (drawn at random within a tier) in "
        + " and ".join(
            f"{results[f'{number} battles']['covered']:.1%} of cases with {number:,} battles"
            for number in settings.battles
        )
        + ": whole ranks, so that they hold more than they must. How often claims came true that "
        "were made with a probability:",
        table(
            ["battles", "claim", "number of claims", "said on average", "came true"],
            [
                [f"{number:,}", words, f"{count:,}", f"{said:.1%}", f"{happened:.1%}"]
                for number in settings.battles
                for claim, words in CLAIMS.items()
                for count, said, happened in results[f"{number} battles"][claim]
            ],
        ),
        f"Tiers of sizes {sizes_text(settings.sizes)}, theta {settings.theta:g}, "
        f"{settings.tier_battles:,} battles, {settings.tier_sets} data sets. No tier of a "
        "leaderboard holds two items that surely differ, so it has to be cut somewhere, and items "
        "near a cut may be tied. What is said of single pairs is more careful.",
        table(
            ["called different", "differences found", "tied pairs called different"],
            [
                [name, f"{found:.1%}", f"{parted:.1%}"]
                for name, (found, parted) in results["tiers"].items()
            ],
        ),
    ]
    return paragraphs(*parts)


STUDY = Study(
    name="leaderboards",
    title="Do rank intervals cover, and do probabilities of a leaderboard come true?",
    full=Settings(),
    quick=Settings(
        n_items=5,
        battles=(200,),
        prior_sets=3,
        sizes=(3, 3),
        tier_battles=500,
        tier_sets=2,
        draws=60,
    ),
    compute=compute,
    tell=tell,
    page="simulations",
)
