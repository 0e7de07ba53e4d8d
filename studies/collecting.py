"""Which comparisons to ask for, and when to stop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import beta

from studies.harness import Place, Results, Study
from studies.writing import paragraphs, percent, table
from tierwise import (
    Battles,
    ClusteredLuce,
    Tiers,
    choose,
    load_llmfao,
    next_questions,
    sample_posterior,
)
from tierwise._util.tasks import run_tasks
from tierwise.planning.asking import Alike, decide_battles
from tierwise.planning.claims import chances_of_claims, kinds_of_claims
from tierwise.planning.plan import short_chains
from tierwise.planning.strengths import strengths_of
from tierwise.posterior.chain import State
from tierwise.posterior.estimates import share_above
from tierwise.posterior.run import draw_tiers_from

if TYPE_CHECKING:
    from numpy.random import Generator, SeedSequence
    from numpy.typing import NDArray

    from tierwise.data.rankings import Rankings
    from tierwise.posterior.result import Posterior

CERTAINTY = 0.95
WAYS = ("at random", "closest strengths", "next_questions")
TRUTHS = ("tiers", "all different", "one leader")


@dataclass(frozen=True)
class Settings:
    """How much is simulated."""

    # Items, questions per batch, batches, and collections of each truth and way.
    asking: tuple[tuple[int, int, int, int], ...] = ((20, 100, 8, 3),)
    # Numbers of rankings that are looked at, and how many collections of each truth.
    looks: tuple[int, ...] = tuple(range(8, 61, 4))
    streams: int = 40
    seed: int = 36


def model_of(truth: str, n_items: int) -> ClusteredLuce:
    """Return the model that answers come from."""
    names = [f"m{number:03d}" for number in range(n_items)]
    if truth == "one leader":
        return ClusteredLuce(Tiers([names[:1], names[1:]]), (2.0, 1.0))
    size = 4 if truth == "tiers" else 1
    tiers = Tiers([names[start : start + size] for start in range(0, n_items, size)])
    logs = np.linspace(1.0, -1.0, len(tiers))
    return ClusteredLuce(tiers, np.exp(logs).tolist())


def _drawn(data: Battles, rng: Generator) -> Posterior:
    with short_chains():
        return sample_posterior(
            data, family="luce", chains=2, draws=200, rng=int(rng.integers(2**31)), progress="off"
        )


def _pairs(
    way: str, data: Battles, posterior: Posterior, number: int, rng: Generator
) -> NDArray[np.int64]:
    """Choose the next pairs to ask about, one row each."""
    n_items = len(posterior.items)
    first, second = np.triu_indices(n_items, k=1)
    if way == "at random":
        chosen = rng.integers(len(first), size=number)
    elif way == "closest strengths":
        means = strengths_of(data).means
        apart = np.abs(means[first] - means[second])
        chosen = np.argsort(apart + 1e-9 * rng.random(len(apart)))[:number]
    else:
        items = {item: place for place, item in enumerate(posterior.items)}
        rows = next_questions(data, number, posterior=posterior).rows
        return np.array([[items[item] for item in row.items] for row in rows])
    return np.stack([first[chosen], second[chosen]], axis=1)


def collect(
    truth: str, way: str, n_items: int, batch: int, batches: int, seed: SeedSequence
) -> list[float]:
    """Collect votes; return the share of differing pairs that are separated after each batch."""
    return _collect_from(model_of(truth, n_items), way, batch, batches, 0.0, seed)


def collect_again(way: str, batch: int, batches: int, seed: SeedSequence) -> list[float]:
    """Collect the votes of LLMFAO again, from the tiers found, with as many drawn ones."""
    votes = load_llmfao()
    plain = Battles(votes.items, votes.decided, votes.drawn)
    model = choose(plain, family="luce", progress="off", rng=1).fit.model()
    assert isinstance(model, ClusteredLuce)
    like = plain if way == "as they were" else None
    return _collect_from(model, way, batch, batches, votes.n_drawn / votes.n_battles, seed, like)


def _collect_from(
    model: ClusteredLuce,
    way: str,
    batch: int,
    batches: int,
    share_drawn: float,
    seed: SeedSequence,
    like: Battles | None = None,
) -> list[float]:
    rng = np.random.default_rng(seed)
    first, second = np.triu_indices(len(model.tiers.items), k=1)
    data: Battles | None = None
    posterior: Posterior | None = None
    shares = []
    for _ in range(batches):
        if like is not None:
            further = Alike(like).answers(model, batch, rng)
            assert isinstance(further, Battles)
        else:
            if data is None or posterior is None:
                places = rng.integers(len(first), size=batch)
                pairs = np.stack([first[places], second[places]], axis=1)
            else:
                pairs = _pairs(way, data, posterior, batch, rng)
            met = np.zeros((len(model.tiers.items),) * 2, dtype=np.int64)
            np.add.at(met, (pairs.min(axis=1), pairs.max(axis=1)), 1)
            items = model.tiers.items if data is None else data.items
            further = decide_battles(model, items, met, share_drawn, rng)
        data = further if data is None else data + further
        posterior = _drawn(data, rng)
        labels = model.tiers.label_array(data.items)
        sure = share_above(posterior.labels) >= CERTAINTY
        shares.append(float(sure[labels[:, None] < labels].mean()))
    return shares


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
    for n_items, batch, batches, sets in settings.asking:
        for truth in TRUTHS:
            # The same seeds for each way: the first batch is the same.
            seeds = np.random.SeedSequence([settings.seed, n_items]).spawn(sets)
            for way in WAYS:
                shares = run_tasks(
                    collect,
                    [(truth, way, n_items, batch, batches, seed) for seed in seeds],
                    description=f"{n_items} items, {truth}, {way}",
                    workers=place.workers,
                )
                asked.append(
                    {"items": n_items, "truth": truth, "way": way, "batch": batch, "shares": shares}
                )
    seeds = np.random.SeedSequence(settings.seed).spawn(settings.streams)
    rules = {
        truth: run_tasks(
            look_again_and_again,
            [(truth, settings.looks, seed) for seed in seeds],
            description=f"stopping, {truth}",
            workers=place.workers,
        )
        for truth in LOOKED_AT
    }
    return {"asked": asked, "rules": rules}


def votes_needed(shares: list[float], batch: int, goal: float) -> float:
    """Return after how many votes a share is reached, or infinity; evenly between two batches."""
    before = 0.0
    for number, share in enumerate(shares, start=1):
        if share >= goal:
            part = 1.0 if share == before else (goal - before) / (share - before)
            return batch * (number - 1 + part)
        before = share
    return float("inf")


def tell(results: Results, settings: Settings) -> str:
    """Write what was found."""
    return paragraphs(
        "Votes were collected in batches: pairs chosen at random, those of the closest strengths, "
        "or those that `next_questions` names. The goal is the share of differing pairs (at 95%) "
        "that random votes reach at the end of the collection; the ratio is how many votes each "
        "way needs for it, beside random ones, with its standard error.",
        _table_of_asking(results["asked"]),
        "**Looking again and again.** Rankings of four items were collected, and looked at "
        f"{len(settings.looks)} times, after {settings.looks[0]}, {settings.looks[1]}, ... "
        f"{settings.looks[-1]} of them (a look after every single one costs four times as much). "
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
            random = of["at random"]
            goals = [shares[-1] for shares in random["shares"]]
            cells = []
            for way in WAYS[1:]:
                ratios = [
                    votes_needed(shares, of[way]["batch"], goal)
                    / votes_needed(base, random["batch"], goal)
                    for shares, base, goal in zip(
                        of[way]["shares"], random["shares"], goals, strict=True
                    )
                    if goal > 0
                ]
                cells.append(_ratio(ratios))
            total = len(random["shares"][0]) * random["batch"]
            rows.append([str(n_items), truth, f"{total:,}", percent(float(np.mean(goals))), *cells])
    header = ["items", "truth", "random votes", "separated by them", *WAYS[1:]]
    return table(header, rows)


def _ratio(ratios: list[float]) -> str:
    reached = [ratio for ratio in ratios if np.isfinite(ratio)]
    if not reached:
        return "not reached"
    error = f" ± {np.std(reached, ddof=1) / len(reached) ** 0.5:.2f}" if len(reached) > 1 else ""
    missed = f" ({len(ratios) - len(reached)} of {len(ratios)} not reached)"
    return f"{np.mean(reached):.2f}{error}{missed if len(reached) < len(ratios) else ''}"


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
    quick=Settings(asking=((6, 20, 3, 1),), looks=(8, 12), streams=1),
    compute=compute,
    tell=tell,
    page="simulations",
)
