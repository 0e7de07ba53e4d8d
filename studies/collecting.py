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
    ClusteredMallows,
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
from tierwise.posterior.ties import NEARLY

if TYPE_CHECKING:
    from numpy.random import Generator, SeedSequence
    from numpy.typing import NDArray

    from tierwise.data.rankings import Rankings
    from tierwise.posterior.result import Posterior

CERTAINTY = 0.95
WAYS = ("at random", "closest strengths", "next_questions")
TRUTHS = ("tiers", "all different", "theta")
# Tiers of every truth that has ties.
N_TIERS = 5


@dataclass(frozen=True)
class Settings:
    """How much is simulated."""

    # Items, votes per batch, batches, batches from look to look, and collections of each truth.
    asking: tuple[tuple[int, int, int, int, int], ...] = ((20, 20, 60, 3, 2),)
    # Votes per batch, batches, batches from look to look, and collections of LLMFAO again, which
    # take several minutes each.
    again: tuple[int, int, int, int] = (200, 60, 5, 0)
    # Numbers of rankings that are looked at, and how many collections of each truth.
    looks: tuple[int, ...] = tuple(range(8, 61, 4))
    streams: int = 40
    seed: int = 36


def model_of(truth: str, n_items: int) -> ClusteredLuce | ClusteredMallows:
    """Return the model that answers come from."""
    names = [f"m{number:03d}" for number in range(n_items)]
    size = 1 if truth == "all different" else -(-n_items // N_TIERS)
    tiers = Tiers([names[start : start + size] for start in range(0, n_items, size)])
    if truth == "theta":
        # The best tier wins about nine of ten comparisons with the last one.
        return ClusteredMallows(tiers, 4.0 / n_items, "inversions")
    logs = np.linspace(1.0, -1.0, len(tiers))
    return ClusteredLuce(tiers, np.exp(logs).tolist())


def _drawn(data: Battles, rng: Generator) -> Posterior:
    with short_chains():
        return sample_posterior(
            data, family="luce", chains=2, draws=250, rng=int(rng.integers(2**31)), progress="off"
        )


def _pairs(way: str, data: Battles, number: int, rng: Generator) -> NDArray[np.int64]:
    """Choose the next pairs to ask about, one row each."""
    n_items = len(data.items)
    first, second = np.triu_indices(n_items, k=1)
    if way == "at random":
        chosen = rng.integers(len(first), size=number)
    elif way == "closest strengths":
        means = strengths_of(data).means
        apart = np.abs(means[first] - means[second])
        chosen = np.argsort(apart + 1e-9 * rng.random(len(apart)))[:number]
    else:
        items: dict[Any, int] = {item: place for place, item in enumerate(data.items)}
        rows = next_questions(data, number, posterior=_drawn(data, rng)).rows
        return np.array([[items[item] for item in row.items] for row in rows])
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
    first, second = np.triu_indices(len(model.tiers.items), k=1)
    data: Battles | None = None
    told = []
    for number in range(1, how.batches + 1):
        if how.like is not None:
            further = Alike(how.like).answers(model, how.batch, rng)
            assert isinstance(further, Battles)
        else:
            # The first votes are about pairs at random.
            items = model.tiers.items if data is None else data.items
            if data is None:
                places = rng.integers(len(first), size=how.batch)
                pairs = np.stack([first[places], second[places]], axis=1)
            else:
                pairs = _pairs(how.way, data, how.batch, rng)
            met = np.zeros((len(items),) * 2, dtype=np.int64)
            np.add.at(met, (pairs.min(axis=1), pairs.max(axis=1)), 1)
            further = decide_battles(model, items, met, how.share_drawn, rng)
        data = further if data is None else data + further
        if number % how.look_every == 0:
            told.append(_settled_pairs(_drawn(data, rng), model, data.items))
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


def llmfao_again() -> tuple[ClusteredLuce, Battles]:
    """Return the tiers of LLMFAO with their worths, and its votes."""
    votes = load_llmfao()
    plain = Battles(votes.items, votes.decided, votes.drawn)
    model = choose(plain, family="luce", progress="off", rng=1).fit.model()
    assert isinstance(model, ClusteredLuce)
    return model, plain


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
        for truth in TRUTHS:
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
    """Collect the votes of LLMFAO again: as they were, and asked well."""
    batch, batches, look_every, sets = settings.again
    model, votes = llmfao_again()
    found = []
    for way in ("as they were", "next_questions"):
        share_drawn = votes.n_drawn / votes.n_battles
        like = votes if way == "as they were" else None
        how = Collection(way, batch, batches, look_every, share_drawn, like)
        seeds = np.random.SeedSequence([settings.seed, 59]).spawn(sets)
        told = run_tasks(
            collect_from,
            [(model, how, seed) for seed in seeds],
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


def votes_needed(shares: NDArray[np.float64], votes: list[int], goal: float) -> float:
    """Return after how many votes a share is reached, or infinity; evenly between two looks."""
    before, at = 0.0, 0.0
    for share, number in zip(shares.tolist(), votes, strict=True):
        if share >= goal:
            part = 1.0 if share == before else (goal - before) / (share - before)
            return at + part * (number - at)
        before, at = share, float(number)
    return float("inf")


def ratio_of_votes(
    told: list[list[list[float]]], random: list[list[list[float]]], votes: list[int]
) -> tuple[float, float]:
    """Votes needed, beside random ones, for what these settle at the end; with its error.

    Shares are averaged over collections, and the error is that of leaving out one at a time.
    """
    own, others = (np.array(one)[:, :, 0] for one in (told, random))

    def ratio(kept: NDArray[np.bool_]) -> float:
        base = others[kept].mean(axis=0)
        goal = float(base[-1])
        return votes_needed(own[kept].mean(axis=0), votes, goal) / votes_needed(base, votes, goal)

    everything = np.ones(len(own), dtype=bool)
    if len(own) < 2:
        return ratio(everything), float("nan")
    without = [ratio(np.arange(len(own)) != left_out) for left_out in range(len(own))]
    error = np.sqrt((len(own) - 1) * np.var(without)) if np.isfinite(without).all() else np.inf
    return ratio(everything), float(error)


def tell(results: Results, settings: Settings) -> str:
    """Write what was found."""
    return paragraphs(
        "Votes were collected in batches: pairs chosen at random, those of the closest strengths, "
        "or those that `next_questions` names; the first batch is random. The truth is five tiers "
        "with worths, items with worths that are all different, or five tiers with one theta; the "
        "best wins about nine of ten comparisons with the last. A pair is settled if one of the "
        "two is better with a probability of 95%, or if both are tied or nearly with that "
        "probability, and this is true. The goal is the share of pairs that random votes settle at "
        "the end of the collection; the ratio is how many votes each way needs for it, beside "
        "random ones, with its standard error. The last column is the largest share of all "
        "pairs of which something is claimed that is not true, over all looks and collections.",
        _table_of_asking(results["asked"]),
        "So few collections do not tell `next_questions` from random votes. They do show why the "
        "closest strengths are not asked about: close items win about half of their comparisons, "
        "tied or not, so votes about them alone look as if there were no tiers at all. From look "
        "to look it is open again whether there are any, or all items are even said to be tied.",
        _told_again(results["again"]),
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
    for n_items, batch in dict.fromkeys((one["items"], one["batch"]) for one in asked):
        for truth in TRUTHS:
            of = {
                one["way"]: one
                for one in asked
                if (one["items"], one["batch"], one["truth"]) == (n_items, batch, truth)
            }
            random, votes = of["at random"]["told"], of["at random"]["votes"]
            goal = float(np.array(random)[:, -1, 0].mean())
            cells = [str(n_items), truth, str(batch), str(len(random)), f"{votes[-1]:,}"]
            cells.append(percent(goal))
            cells += [_ratio(*ratio_of_votes(of[way]["told"], random, votes)) for way in WAYS[1:]]
            most = [float(np.array(of[way]["told"])[:, :, 1].max()) for way in WAYS]
            rows.append([*cells, ", ".join(percent(share) for share in most)])
    header = ["items", "truth", "batch", "collections", "random votes", "settled by them"]
    return table(
        [*header, *WAYS[1:], "most wrong at any look: random, closest, `next_questions`"], rows
    )


def _ratio(ratio: float, error: float) -> str:
    if not np.isfinite(ratio):
        return "not reached"
    return f"{ratio:.2f} ± {error:.2f}" if np.isfinite(error) else f"{ratio:.2f}"


def _told_again(again: list[dict[str, Any]]) -> str:
    """Say how the votes of LLMFAO would have gone, if that was simulated."""
    if not again[0]["told"]:
        return ""
    shares = {one["way"]: np.array(one["told"])[:, :, 0].mean(axis=0) for one in again}
    rows = [
        [f"{number:,}", *(percent(float(own[place])) for own in shares.values())]
        for place, number in enumerate(again[0]["votes"])
    ]
    return paragraphs(
        "**LLMFAO again.** The votes of LLMFAO were collected again from the tiers found in them, "
        "with as many draws: about the pairs that were asked about, or those that "
        "`next_questions` names.",
        table(["votes", *(f"settled, {way}" for way in shares)], rows),
    )


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
