"""Which comparisons to ask for, and when to stop."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.optimize import isotonic_regression
from scipy.stats import beta

from studies.harness import Place, Results, Study
from studies.writing import paragraphs, percent, table
from tierwise import (
    Battles,
    ClusteredLuce,
    ClusteredMallows,
    Tiers,
    choose,
    load_llmfao,
    sample_posterior,
)
from tierwise._util.tasks import run_tasks
from tierwise.planning.asking import Alike, decide_battles
from tierwise.planning.claims import chances_of_claims, drawn_tiers, kinds_of_claims
from tierwise.planning.plan import model_of_draw, short_chains, where_reached
from tierwise.planning.questions import batch_of_questions, open_orders
from tierwise.planning.strengths import strengths_of
from tierwise.posterior.chain import State
from tierwise.posterior.estimates import share_above
from tierwise.posterior.run import DrawnTiers, draw_tiers_from
from tierwise.posterior.ties import NEARLY

if TYPE_CHECKING:
    from numpy.random import Generator, SeedSequence
    from numpy.typing import NDArray

    from tierwise.data.rankings import Rankings
    from tierwise.posterior.result import Posterior
    from tierwise.searching.choice import Choice

CERTAINTY = 0.95
WAYS = ("at random", "closest strengths", "next_questions")
TRUTHS = ("tiers", "all different", "theta", "spread out")
# With many items, for which a collection takes long, "all different" is left out.
TRUTHS_OF_MANY = ("tiers", "theta", "spread out")
MANY = 50
# Tiers of every truth that has ties.
N_TIERS = 5
CONCLUSION = (
    "Asking well pays most where strengths are spread out: items far apart are soon settled, and "
    "votes about them say nothing more. It pays less with many items in few tiers. While the votes "
    "do not yet show any tiers, `next_questions` asks about items far apart. The closest strengths "
    "are the wrong ones to ask about: close items win about half of their comparisons, tied or "
    "not, so votes about them alone look as if there were no tiers at all. From look to look it is "
    "open again whether there are any."
)
AS_THEY_WERE = "as they were"
LLMFAO_VOTES = 8_931
ASKED = {"at random": "at random", "next_questions": "well"}


@dataclass(frozen=True)
class Settings:
    """How much is simulated."""

    # Items, votes per batch, batches, batches from look to look, and collections of each truth.
    asking: tuple[tuple[int, int, int, int, int], ...] = (
        (20, 20, 60, 4, 10),
        (50, 50, 60, 6, 4),
        (100, 100, 48, 8, 2),
    )
    # Votes per batch, batches, batches from look to look, and collections of LLMFAO again.
    again: tuple[int, int, int, int] = (150, 60, 5, 3)
    # Numbers of rankings that are looked at, and how many collections of each truth.
    looks: tuple[int, ...] = tuple(range(8, 61))
    streams: int = 40
    seed: int = 36


def model_of(truth: str, n_items: int) -> ClusteredLuce | ClusteredMallows:
    """Return the model that answers come from."""
    names = [f"m{number:03d}" for number in range(n_items)]
    size = -(-n_items // N_TIERS) if truth in ("tiers", "theta") else 1
    tiers = Tiers([names[start : start + size] for start in range(0, n_items, size)])
    if truth == "theta":
        # The best tier wins about nine of ten comparisons with the last one.
        return ClusteredMallows(tiers, 4.0 / n_items, "inversions")
    most = 3.0 if truth == "spread out" else 1.0
    return ClusteredLuce(tiers, np.exp(np.linspace(most, -most, len(tiers))).tolist())


def _drawn(data: Battles, rng: Generator) -> Posterior:
    with short_chains():
        return sample_posterior(
            data, family="luce", chains=2, draws=250, rng=int(rng.integers(2**31)), progress="off"
        )


def _further_draws(data: Battles, choice: Choice, before: DrawnTiers, rng: Generator) -> DrawnTiers:
    """Go on with two chains where they ended with fewer votes; the first draws are a warm-up."""
    chains = []
    for end in (len(before.labels) // 2 - 1, len(before.labels) - 1):
        seed = np.random.SeedSequence(int(rng.integers(2**31)))
        chains.append(draw_tiers_from(data, choice, _state_of(before, end), 120, seed))
    logs = [one.log_worths[20:] for one in chains if one.log_worths is not None]
    labels = [one.labels[20:] for one in chains]
    return DrawnTiers(np.concatenate(labels), np.concatenate(logs), chains[0].prior_sizes)


def _state_of(drawn: DrawnTiers, draw: int) -> State:
    """Return a draw as the point of a chain."""
    assert drawn.log_worths is not None
    labels = drawn.labels[draw] - 1
    sizes = tuple(np.bincount(labels).tolist())
    return State(labels, sizes, np.nan, np.nan, log_worths=drawn.log_worths[draw])


def _pairs(
    way: str, data: Battles, number: int, drawn: DrawnTiers, rng: Generator
) -> NDArray[np.int64]:
    """Choose the next pairs to ask about, one row each."""
    if way == "at random":
        return _random_pairs(len(data.items), number, rng)
    strengths = strengths_of(data)
    if way == "closest strengths":
        first, second = np.triu_indices(len(data.items), k=1)
        apart = np.abs(strengths.means[first] - strengths.means[second])
        chosen = np.argsort(apart + 1e-9 * rng.random(len(apart)))[:number]
        return np.stack([first[chosen], second[chosen]], axis=1)
    # As next_questions does it, without a result around it.
    allowed, prices = ~np.eye(len(data.items), dtype=bool), np.ones(len(data.items))
    assert drawn.log_worths is not None
    orders = open_orders(drawn.labels, drawn.log_worths, strengths, rng)
    batch = batch_of_questions(orders, allowed, prices, number, 2)
    return np.array([members for members, _ in batch])


def _random_pairs(n_items: int, number: int, rng: Generator) -> NDArray[np.int64]:
    first, second = np.triu_indices(n_items, k=1)
    chosen = rng.integers(len(first), size=number)
    return np.stack([first[chosen], second[chosen]], axis=1)


@dataclass(frozen=True)
class Collection:
    """How votes are collected, and when they are looked at."""

    way: str
    batch: int
    batches: int
    look_every: int
    share_drawn: float = 0.0
    # The pairs and draws of real votes, in place of a way of choosing pairs.
    like: Battles | None = None

    def looks(self) -> list[int]:
        """Return the numbers of votes that are looked at."""
        return [
            self.batch * number
            for number in range(1, self.batches + 1)
            if number % self.look_every == 0
        ]


def collect(truth: str, n_items: int, how: Collection, seed: SeedSequence) -> list[list[float]]:
    """Collect votes; return at each look the share of pairs settled, and that wrongly so."""
    return collect_from(model_of(truth, n_items), how, seed)


def collect_from(
    model: ClusteredLuce | ClusteredMallows, how: Collection, seed: SeedSequence
) -> list[list[float]]:
    """Collect votes from a model, as `collect` does."""
    rng = np.random.default_rng(seed)
    items = model.tiers.items
    data: Battles | None = None
    drawn: DrawnTiers | None = None
    choice: Choice | None = None
    told = []
    for number in range(1, how.batches + 1):
        if how.like is not None:
            further = Alike(how.like).answers(model, how.batch, rng)
            assert isinstance(further, Battles)
        else:
            # The first votes are about pairs at random.
            pairs = (
                _random_pairs(len(items), how.batch, rng)
                if data is None or drawn is None
                else _pairs(how.way, data, how.batch, drawn, rng)
            )
            met = np.zeros((len(items),) * 2, dtype=np.int64)
            np.add.at(met, (pairs.min(axis=1), pairs.max(axis=1)), 1)
            further = decide_battles(model, items, met, how.share_drawn, rng)
        data = further if data is None else data + further
        if number % how.look_every == 0 or choice is None or drawn is None:
            posterior = _drawn(data, rng)
            drawn = drawn_tiers(posterior)
            choice = choice or choose(data, family="luce", progress="off", rng=1)
            if number % how.look_every == 0:
                told.append(_settled_pairs(posterior, model, data.items))
        elif how.way == "next_questions":
            drawn = _further_draws(data, choice, drawn, rng)
    return told


def _settled_pairs(
    posterior: Posterior, model: ClusteredLuce | ClusteredMallows, items: tuple[Any, ...]
) -> list[float]:
    """Share of the pairs of which something true is claimed, and of those with a wrong claim."""
    labels = model.tiers.label_array(items)
    preferred = np.asarray(model.pair_probabilities())[np.ix_(labels, labels)]
    is_near = (labels[:, None] == labels) | (np.abs(preferred - 0.5) <= NEARLY - 0.5)
    is_above = labels[:, None] < labels
    sure = share_above(posterior.labels) >= CERTAINTY
    near = posterior.tied_or_nearly_probabilities().to_numpy() >= CERTAINTY
    right, wrong = sure & is_above, sure & ~is_above
    right = right | right.T | (near & is_near)
    wrong = wrong | wrong.T | (near & ~is_near)
    pairs = np.triu_indices(len(labels), k=1)
    return [float((right & ~wrong)[pairs].mean()), float(wrong[pairs].mean())]


def llmfao_again(how: Collection, seed: SeedSequence) -> list[list[float]]:
    """Collect the votes of LLMFAO again, from a draw of what they say, with as many draws."""
    votes = load_llmfao()
    plain = Battles(votes.items, votes.decided, votes.drawn)
    drawn, asked = seed.spawn(2)
    posterior = _drawn(plain, np.random.default_rng(drawn))
    how = replace(
        how,
        share_drawn=plain.n_drawn / plain.n_battles,
        like=plain if how.way == AS_THEY_WERE else None,
    )
    return collect_from(model_of_draw(posterior, -1), how, asked)


LOOKED_AT = {
    "one leader": ((1, 3), (3.0, 1.0)),
    "two leaders": ((2, 2), (4.0, 1.0)),
    "all tied": ((4,), (1.0,)),
}


def look_again_and_again(
    truth: str, looks: tuple[int, ...], seed: SeedSequence
) -> dict[str, list[bool]]:
    """Look at growing numbers of rankings of four items; say of each rule: stopped, and wrong."""
    sizes, worths = LOOKED_AT[truth]
    names = iter("abcd")
    tiers = Tiers([[next(names) for _ in range(size)] for size in sizes])
    model, rng = ClusteredLuce(tiers, worths), np.random.default_rng(seed)
    answers = model.sample(looks[-1], rng)
    labels = tiers.label_array(answers.items)
    outcomes = {"naive": [False, False], "enough": [False, False]}
    for number in looks:
        data = answers.subset(slice(0, number))
        claims = {}
        if not outcomes["naive"][0]:
            claims["naive"] = _naive(data.ranks())
        if not outcomes["enough"][0]:
            claims["enough"] = _settled(data, rng)
        for rule, claimed in claims.items():
            if claimed is not None:
                wrong = (claimed[:, None] < claimed) & (labels[:, None] >= labels)
                outcomes[rule] = [True, bool(wrong.any())]
        if all(stopped for stopped, _ in outcomes.values()):
            break
    return outcomes


def _settled(data: Rankings, rng: Generator) -> NDArray[np.int64] | None:
    """Return the tiers that `enough` would publish, if each of their boundaries is settled."""
    seed = np.random.SeedSequence(int(rng.integers(2**31)))
    with short_chains():
        choice = choose(data, family="luce", progress="off", rng=1)
    model = choice.fit.model()
    assert isinstance(model, ClusteredLuce)
    labels = choice.fit.tiers.label_array(data.items)
    logs = np.log(np.array(model.worths))[labels]
    sizes = tuple(np.bincount(labels).tolist())
    begin = State(labels, sizes, np.nan, np.nan, log_worths=logs - logs.mean())
    # The first draws are a warm-up: the chain begins at the most probable tiers.
    drawn = draw_tiers_from(data, choice, begin, 700, seed)
    assert drawn.log_worths is not None
    kept = drawn._replace(labels=drawn.labels[200:], log_worths=drawn.log_worths[200:])
    kinds = kinds_of_claims(labels, "differences")
    chances = chances_of_claims(labels, kinds, kept)
    return labels if (chances.holds >= CERTAINTY).all() else None


def _naive(ranks: NDArray[np.float64]) -> NDArray[np.int64] | None:
    """Stop when the two best by mean rank differ with p < 0.05, and publish their difference."""
    from scipy.stats import wilcoxon

    order = np.argsort(ranks.mean(axis=0))
    apart = ranks[:, order[0]] - ranks[:, order[1]]
    if not apart.any() or float(wilcoxon(apart).pvalue) >= 0.05:
        return None
    claimed = np.ones(ranks.shape[1], dtype=np.int64)
    claimed[order[0]] = 0
    return claimed


def compute(settings: Settings, place: Place) -> Results:
    """Simulate everything."""
    asked = []
    for n_items, batch, batches, look_every, sets in settings.asking:
        for truth in TRUTHS if n_items < MANY else TRUTHS_OF_MANY:
            # The same seeds for each way: the first batch is the same.
            seeds = np.random.SeedSequence([settings.seed, n_items, batch]).spawn(sets)
            for way in WAYS:
                how = Collection(way, batch, batches, look_every)
                told = run_tasks(
                    collect,
                    [(truth, n_items, how, seed) for seed in seeds],
                    description=f"{n_items} items, {truth}, {way}",
                    workers=place.workers,
                )
                asked.append(
                    {
                        "items": n_items,
                        "truth": truth,
                        "way": way,
                        "batch": batch,
                        "votes": how.looks(),
                        "told": told,
                    }
                )
    return {
        "asked": asked,
        "again": _collect_again(settings, place),
        "rules": _look_again_and_again(settings, place),
    }


def _collect_again(settings: Settings, place: Place) -> list[dict[str, Any]]:
    """Collect the votes of LLMFAO again: as they were, at random, and asked well."""
    batch, batches, look_every, sets = settings.again
    found = []
    for way in (AS_THEY_WERE, "at random", "next_questions"):
        how = Collection(way, batch, batches, look_every)
        seeds = np.random.SeedSequence([settings.seed, 59]).spawn(sets)
        told = run_tasks(
            llmfao_again,
            [(how, seed) for seed in seeds],
            description=f"LLMFAO, {way}",
            workers=place.workers,
        )
        found.append({"way": way, "votes": how.looks(), "told": told})
    return found


def _look_again_and_again(settings: Settings, place: Place) -> dict[str, Any]:
    seeds = np.random.SeedSequence(settings.seed).spawn(settings.streams)
    return {
        truth: run_tasks(
            look_again_and_again,
            [(truth, settings.looks, seed) for seed in seeds],
            description=f"stopping, {truth}",
            workers=place.workers,
        )
        for truth in LOOKED_AT
    }


class Ratio(NamedTuple):
    """Votes needed for a share of pairs, beside random ones: geometric mean over collections."""

    ratio: float
    error: float
    # Collections that did not get there; they are left out of the ratio.
    not_reached: int


def share_reached(told: list[list[list[float]]]) -> float:
    """Return the share that all of these collections have settled at their end, or before."""
    return min(float(isotonic_regression(np.array(one)[:, 0]).x[-1]) for one in told)


def ratio_of_votes(
    told: list[list[list[float]]], random: list[list[list[float]]], votes: list[int], goal: float
) -> Ratio:
    """Compare votes needed for a goal with random ones, collection by collection.

    Shares that fall from look to look but for chance are made to rise (isotonic regression).
    """
    own, others = (
        np.array([where_reached(votes, np.array(one)[:, 0], goal) for one in many])
        for many in (told, random)
    )
    logs = np.log(own / others)
    reached = logs[np.isfinite(logs)]
    if not len(reached):
        return Ratio(float("inf"), float("nan"), len(logs))
    mean = float(np.exp(reached.mean()))
    error = float("nan")
    if len(reached) > 1:
        error = mean * float(reached.std(ddof=1)) / len(reached) ** 0.5
    return Ratio(mean, error, len(logs) - len(reached))


def tell(results: Results, settings: Settings) -> str:
    """Write what was found."""
    return paragraphs(
        "Votes were collected in batches of as many as there are items: pairs chosen at random, "
        "those of the closest strengths, or those that `next_questions` names; the first batch is "
        "random. The truth is five tiers with worths, items with worths that are all different, or "
        "five tiers with one theta, where the best wins about nine of ten comparisons with the "
        "last; or worths that are all different and spread out, where the best hardly ever loses "
        "to the last. A pair is settled if one of the two is better with a probability of 95%, or "
        "if both are tied or nearly tied with that probability, and this is true. The goal is a "
        "share "
        "of pairs that random votes have settled at the end of every collection; the ratio is how "
        "many votes each way needs for it, beside random ones that began with the same batch: the "
        "geometric mean over collections, with its standard error. Collections that did not reach "
        "the goal with as many votes as the random ones are counted, and not part of the ratio. "
        "Wrong is the share of pairs about which a false claim is made, on average "
        "over looks and collections.",
        _table_of_asking(results["asked"]),
        CONCLUSION,
        _told_again(results["again"]),
        "**Looking again and again.** Rankings of four items were collected, and looked at after "
        f"every single one, from the {settings.looks[0]}th to the {settings.looks[-1]}th. "
        "The truth is one leader that wins three of four comparisons, two tied leaders that win "
        "four of five against the others, or four tied items. The naive rule stops as soon as a "
        "signed-rank test of the two best has p < 0.05, and publishes their difference; `enough` "
        "stops as soon as each boundary of the most probable tiers is settled, and publishes "
        "these. Wrong is a published difference that is not there, with the share of all "
        "collections and its upper 95% bound.",
        _table_of_rules(results["rules"]),
    )


def _table_of_asking(asked: list[dict[str, Any]]) -> str:
    rows = []
    for n_items in dict.fromkeys(one["items"] for one in asked):
        for truth in TRUTHS:
            of = {
                one["way"]: one for one in asked if (one["items"], one["truth"]) == (n_items, truth)
            }
            if not of:
                continue
            random, votes = of["at random"]["told"], of["at random"]["votes"]
            goal = share_reached(random)
            cells = [str(n_items), truth, str(len(random)), percent(goal)]
            needed = [where_reached(votes, np.array(one)[:, 0], goal) for one in random]
            cells.append(f"{np.exp(np.mean(np.log(needed))):,.0f}")
            cells += [_ratio(of[way]["told"], random, votes, goal) for way in WAYS[1:]]
            for place in (0, 1):
                shares = [np.array(of[way]["told"])[:, :, place] for way in WAYS]
                told = [float(one[:, -1].mean() if place == 0 else one.mean()) for one in shares]
                cells.append(", ".join(percent(share) for share in told))
            rows.append(cells)
    header = ["items", "truth", "collections", "goal", "random votes for it"]
    return table(
        [*header, *WAYS[1:], "settled at the end: random, closest, `next_questions`", "wrong"],
        rows,
    )


def _ratio(
    told: list[list[list[float]]], random: list[list[list[float]]], votes: list[int], goal: float
) -> str:
    """Write a ratio with its error, and how often the goal was not reached."""
    found = ratio_of_votes(told, random, votes, goal)
    if found.not_reached == len(told):
        return "never reached"
    words = f"{found.ratio:.2f}"
    words += f" ± {found.error:.2f}" if np.isfinite(found.error) else ""
    missed = f" ({found.not_reached} of {len(told)} not reached)" if found.not_reached else ""
    return words + missed


def _told_again(again: list[dict[str, Any]]) -> str:
    """Say how the votes of LLMFAO would have gone, if that was simulated."""
    if not again[0]["told"]:
        return ""
    votes = again[0]["votes"]
    shares = {one["way"]: np.array(one["told"])[:, :, 0] for one in again}
    at_hand = [float(np.interp(LLMFAO_VOTES, votes, own)) for own in shares[AS_THEY_WERE]]
    needed = [
        f"{', '.join(_votes_for(votes, shares[way], at_hand))} votes asked {how}"
        for way, how in ASKED.items()
    ]
    rows = [
        [f"{number:,}", *(percent(float(np.median(own[:, place]))) for own in shares.values())]
        for place, number in enumerate(votes)
    ]
    return paragraphs(
        f"**LLMFAO again.** The {LLMFAO_VOTES:,} votes of LLMFAO on 59 models were collected "
        f"again, {len(at_hand)} times, each from a draw of the tiers and worths that they leave "
        "possible, with as many draws: about the pairs that were asked about, about pairs at "
        "random, or about those that `next_questions` names. As they were, the votes settle "
        f"{', '.join(map(percent, at_hand))} of the pairs. As much is settled, collection by "
        f"collection, by {'; by '.join(needed)}. Medians over the collections:",
        table(["votes", *(f"settled, {way}" for way in shares)], rows),
    )


def _votes_for(votes: list[int], shares: NDArray[np.float64], goals: list[float]) -> list[str]:
    """Write how many votes each collection needs for its goal."""
    needed = [where_reached(votes, own, goal) for own, goal in zip(shares, goals, strict=True)]
    return [f"{number:,.0f}" if np.isfinite(number) else "never" for number in needed]


def _table_of_rules(rules: dict[str, list[dict[str, list[bool]]]]) -> str:
    rows = []
    for truth, collections in {
        **rules,
        "together": [one for of_truth in rules.values() for one in of_truth],
    }.items():
        cells = [truth, str(len(collections))]
        for rule in ("naive", "enough"):
            stopped = sum(one[rule][0] for one in collections)
            wrong = sum(one[rule][1] for one in collections)
            most = float(beta.ppf(0.95, wrong + 1, len(collections) - wrong))
            cells += [
                str(stopped),
                f"{wrong} ({percent(wrong / len(collections))}, at most {percent(most)})",
            ]
        rows.append(cells)
    header = ["truth", "collections", "naive: stopped", "wrong", "enough: stopped", "wrong"]
    return table(header, rows)


STUDY = Study(
    name="collecting",
    title="Which comparisons to ask for, and when to stop",
    full=Settings(),
    quick=Settings(asking=((6, 15, 3, 1, 2),), again=(100, 2, 1, 1), looks=(8, 12), streams=1),
    compute=compute,
    tell=tell,
    page="simulations",
)
