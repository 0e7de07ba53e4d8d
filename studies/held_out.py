"""Which model predicts answers that it has not seen, and does the choice by evidence take it?

Answers are divided into folds. Models learn from all folds but one and give probabilities to the
answers of that one; the mean of the log probability, above that of the uniform distribution, is
what a model knows about people it has not seen.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import partial
from math import log
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np

import tierwise as tw
from studies.harness import Place, Results, Study
from studies.writing import paragraphs, percent, table
from tierwise._util.tasks import run_tasks
from tierwise.answers.races import races_of
from tierwise.fitting.solve import named_tiers

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.random import Generator
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Data = tw.Rankings | tw.Battles

# What is said of the choice: it should be at most this much behind the best of all.
CLOSE = 0.01
FOLDERS = ("arena", "mteb", "preflib", "sushi")


@dataclass(frozen=True)
class Settings:
    """Data sets, number of folds, answers of each set at most, and draws that are averaged over."""

    sets: tuple[str, ...]
    n_folds: int = 5
    most_answers: int = 600
    draws: int = 100
    seed: int = 20613


def _without_gaps(folder: Path) -> tw.Rankings:
    """Tasks of MTEB, and the models that were tried on all of them."""
    scores = tw.read_scores(folder / "mteb" / "scores.csv", "higher")
    tried = np.flatnonzero((scores.places >= 0).all(axis=0))
    return scores.restrict([scores.items[item] for item in tried.tolist()])


def _preflib(name: str, folder: Path) -> tw.Rankings:
    return tw.read_rankings(folder / "preflib" / name, unranked="below", ties="allow")


SETS: dict[str, Callable[[Path], Data]] = {
    "MTEB: tasks rank models": _without_gaps,
    "sushi: tastes": lambda folder: tw.load_sushi(folder / "sushi"),
    "Dublin West 2002: ballots": partial(_preflib, "00001-00000002.soi"),
    "Meath 2002: ballots": partial(_preflib, "00001-00000003.soi"),
    "Debian 2002: ballots": partial(_preflib, "00002-00000001.soi"),
    "Debian 2007: ballots": partial(_preflib, "00002-00000005.soi"),
    "skating, pairs: judges": partial(_preflib, "00006-00000003.soc"),
    "skating, dance: judges": partial(_preflib, "00006-00000018.soc"),
    "breakfast: tastes": partial(_preflib, "00035-00000002.soc"),
    "failure: students and professors": partial(_preflib, "00032-00000003.soi"),
    "Formula 1: races": lambda _: tw.load_f1(),
    "LLMFAO: battles": lambda _: tw.load_llmfao(),
    "Chatbot Arena: battles": lambda folder: tw.read_battles(folder / "arena" / "battles.csv"),
}

# By the names of the columns.
STRICT, TIERS, AVERAGED = "Plackett-Luce", "worths in tiers", "averaged"
ONE_THETA, PER_TIER = "one theta", "one theta per tier"
CHOSEN, CHOSEN_AVERAGED = "the default", "the default, averaged"
HELD_TO_ONE = "held to one theta, averaged"
METHODS = (STRICT, TIERS, AVERAGED, ONE_THETA, PER_TIER, HELD_TO_ONE, CHOSEN, CHOSEN_AVERAGED)


def compute(settings: Settings, place: Place) -> Results:
    found = run_tasks(
        one_data_set,
        [(name, settings, place.data) for name in settings.sets],
        description="held-out answers",
        workers=place.workers,
        progress="off",
    )
    return dict(zip(settings.sets, found, strict=True))


def one_data_set(name: str, settings: Settings, folder: Path) -> Results:
    """Hold out each fold in turn; return the mean log probability above uniform by method."""
    started = process_time()
    data = SETS[name](folder)
    rng = np.random.default_rng([settings.seed, list(SETS).index(name)])
    folds = (
        _folds_of_battles(data, settings, rng)
        if isinstance(data, tw.Battles)
        else _folds_of_rankings(data, settings, rng)
    )
    gains: dict[str, list[Floats]] = {}
    choices: list[str] = []
    n_answers = 0.0
    for training, held_out in folds:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", tw.TierwiseWarning)
            found, chosen = _learn(training, held_out, settings)
        choices.append(chosen)
        n_answers += float(held_out.weights.sum())
        for method, logs in found.items():
            gains.setdefault(method, []).append(held_out.weights * (logs - held_out.uniform))
    gains_of = {method: np.concatenate(parts) for method, parts in gains.items()}
    return {
        "items": len(data.items),
        "answers": n_answers,
        "gain": {method: _finite(parts.sum() / n_answers) for method, parts in gains_of.items()},
        "chosen": {kind: choices.count(kind) for kind in dict.fromkeys(choices)},
        "seconds": round(process_time() - started, 1),
    }


def _finite(value: float) -> float | None:
    """Return None for minus infinity, which JSON does not know."""
    return float(value) if np.isfinite(value) else None


@dataclass(frozen=True)
class HeldOut:
    """Answers that are predicted: their log probability under a fitted model, and under draws.

    Attributes
    ----------
    weights
        How often each answer, or each win of one item against another, occurs.
    uniform
        Log probability of each under the uniform distribution.
    of_model
        Log probability of each under a model.
    of_worths
        The same under log worths, one per item.
    """

    weights: Floats
    uniform: Floats
    of_model: Callable[[Any], Floats]
    of_worths: Callable[[Floats], Floats]


def _folds_of_rankings(
    data: tw.Rankings, settings: Settings, rng: Generator
) -> list[tuple[Data, HeldOut]]:
    """Divide answers at random, at most so many of them."""
    every = np.repeat(np.arange(len(data.places)), data.weights.astype(int))
    chosen = rng.permutation(every)[: settings.most_answers]
    fold_of = np.arange(len(chosen)) % settings.n_folds
    unweighted = tw.Rankings(data.items, data.places, unranked=data.unranked)
    return [
        (
            unweighted.subset(chosen[fold_of != fold]),
            _held_out_rankings(unweighted.subset(chosen[fold_of == fold])),
        )
        for fold in range(settings.n_folds)
    ]


def _held_out_rankings(rankings: tw.Rankings) -> HeldOut:
    races, n_items = races_of(rankings), len(rankings.items)
    no_tiers = tw.ClusteredLuce(tw.Tiers([rankings.items]), (1.0,))

    def of_worths(logs: Floats) -> Floats:
        return races.log_probabilities(np.arange(n_items), logs)[rankings.pattern_of]

    return HeldOut(
        np.ones(len(rankings)),
        no_tiers.log_prob(rankings),
        lambda model: model.log_prob(rankings),
        of_worths,
    )


def _folds_of_battles(
    data: tw.Battles, settings: Settings, rng: Generator
) -> list[tuple[Data, HeldOut]]:
    """Divide the battles of each pair at random, by how they ended."""
    shares = np.full(settings.n_folds, 1 / settings.n_folds)
    won = rng.multinomial(data.decided.astype(int), shares)
    drawn = rng.multinomial(np.triu(data.drawn).astype(int), shares)
    drawn = drawn + np.swapaxes(drawn, 0, 1)
    folds = [
        tw.Battles(data.items, won[..., fold].astype(float), drawn[..., fold].astype(float))
        for fold in range(settings.n_folds)
    ]
    return [
        (
            tw.Battles(data.items, data.decided - fold.decided, data.drawn - fold.drawn),
            _held_out_battles(fold),
        )
        for fold in folds
    ]


def _held_out_battles(battles: tw.Battles) -> HeldOut:
    first, second = np.nonzero(battles.wins)

    def of_model(model: Any) -> Floats:
        labels = model.tiers.label_array(battles.items)
        shares = model.pair_probabilities().probabilities
        return np.asarray(np.log(shares[labels[first], labels[second]]))

    return HeldOut(
        battles.wins[first, second],
        np.full(len(first), -log(2)),
        of_model,
        lambda logs: -np.logaddexp(0.0, logs[second] - logs[first]),
    )


def _learn(data: Data, held_out: HeldOut, settings: Settings) -> tuple[dict[str, Floats], str]:
    """Fit all models; return the log probability of what was held out, and what was chosen."""
    n_items = len(data.items)
    options: dict[str, Any] = {"progress": "off", "rng": settings.seed}
    strict = tw.fit(data, sizes=(1,) * n_items, family="luce", rng=settings.seed)
    worths = tw.search(data, family="luce", **options).best
    posterior = partial(
        tw.sample_posterior, data, chains=2, draws=settings.draws, workers=1, **options
    )
    averaged = _averaged(posterior(family="luce"), held_out, settings)

    def averaged_choice(choice: tw.Choice) -> Floats:
        if choice.family == "luce":
            return averaged
        return _averaged(posterior(choice=choice), held_out, settings)

    choice = tw.choose(data, **options)
    found = {
        STRICT: held_out.of_model(strict.model()),
        TIERS: held_out.of_model(worths.model()),
        AVERAGED: averaged,
        ONE_THETA: held_out.of_model(tw.search(data, "inversions", **options).best.model()),
        CHOSEN: held_out.of_model(choice.fit.model()),
        CHOSEN_AVERAGED: averaged_choice(choice),
    }
    if isinstance(data, tw.Battles):
        return found, choice.search.families[0].name
    per_tier = tw.search(data, "inversions", concentration="tier", **options).best
    found[PER_TIER] = held_out.of_model(per_tier.model())
    one_theta = tw.choose(data, concentration="single", **options)
    found[HELD_TO_ONE] = averaged_choice(one_theta)
    return found, choice.search.families[0].name


def _averaged(posterior: tw.Posterior, held_out: HeldOut, settings: Settings) -> Floats:
    """Log of the mean probability over draws, as many as there are settings for."""
    some = np.linspace(0, len(posterior) - 1, settings.draws).astype(int)
    if posterior.family == "luce":
        drawn = [held_out.of_worths(posterior.log_worths[draw]) for draw in some]
    else:
        drawn = [held_out.of_model(_drawn_model(posterior, draw)) for draw in some]
    return np.asarray(np.logaddexp.reduce(drawn, axis=0) - log(len(some)))


def _drawn_model(posterior: tw.Posterior, draw: int) -> tw.ClusteredMallows:
    """Return the model of one draw; in the thetas of tiers, those that there are not are NaN."""
    tiers = named_tiers(posterior.labels[draw] - 1, posterior.items)
    theta = posterior.thetas[draw]
    if posterior.concentration == "single" or len(tiers) == 1:
        return tw.ClusteredMallows(tiers, float(np.ravel(theta)[0]), posterior.distance)
    return tw.ClusteredMallows(
        tiers, tuple(theta[: len(tiers) - 1].tolist()), posterior.distance, "tier"
    )


def tell(results: Results, settings: Settings) -> str:
    return paragraphs(
        f"Real answers are divided into {settings.n_folds} folds; models learn from all but one "
        "and give probabilities to the answers of that one. The table has the mean log "
        "probability of an answer above that of the uniform distribution: what a model knows about "
        f"people it has not met. At most {settings.most_answers:,} answers of a set are used, "
        "drawn at random; battles are all used, and drawn ones count half to each side.",
        "*Plackett-Luce* (for battles Bradley-Terry) has one worth per item, the most probable "
        "ones. *Worths in tiers* are those of the best tiers; *averaged* means over "
        f"{settings.draws} draws of tiers and worths, or of tiers and theta. *One theta* and *one "
        "theta per tier* are the best tiers with the distance inversions; for battles there is one "
        "theta only. *The default* is what `choose` takes in each fold if nothing is named, "
        'and *held to one theta* what it takes with `concentration="single"`; '
        "`leaderboard` and `sample_posterior` average over the posterior of the model chosen. The "
        "best is bold; a dash says that an answer was held to be impossible (theta is infinite).",
        table(
            ["", "items", "answers", *METHODS, "chosen by default, of folds"],
            [
                [
                    name,
                    str(one["items"]),
                    f"{one['answers']:,.0f}",
                    *_gains(one["gain"]),
                    ", ".join(f"{kind}: {times}" for kind, times in one["chosen"].items()),
                ]
                for name, one in results.items()
            ],
        ),
        _verdict("The default, averaged,", CHOSEN_AVERAGED, results),
        _verdict("Held to one theta the choice, averaged,", HELD_TO_ONE, results),
        "Why does a theta per tier predict so much more? It describes people who are divided. The "
        "theta of a single tier may be 0 or nearly so: people place its items anywhere, and then "
        "the tier is not better than the next one, although it stands above it. That is not "
        "published as tiers: such items have no rank, and tierwise says that people are divided "
        "about them ([See where people agree](howto/agreement.md)).",
    )


def _verdict(who: str, column: str, results: Results) -> str:
    """Say where a choice is close to the best of all methods, and where it is not."""
    behind = {
        name: _behind(one["gain"], column if column in one["gain"] else CHOSEN_AVERAGED)
        for name, one in results.items()
    }
    far = {name: share for name, share in behind.items() if share > CLOSE}
    said = f"{who} is within {CLOSE:.0%} of the best of all methods, or is the best, "
    if not far:
        return said + "everywhere."
    named = ", ".join(f"{name} ({percent(share)})" for name, share in far.items())
    return (
        f"{said}in {len(behind) - len(far)} of {len(behind)} sets. It is further behind in {named}."
    )


def _behind(gain: dict[str, float | None], column: str) -> float:
    """Return how far a method is behind the best, as a share of what that gains."""
    best = max(value for value in gain.values() if value is not None)
    value = gain[column]
    return 1.0 if value is None else (best - value) / abs(best)


def _gains(gain: dict[str, float | None]) -> list[str]:
    digits = 4 if max(value for value in gain.values() if value is not None) < 0.1 else 3
    shown = [
        "" if name not in gain else "-" if (value := gain[name]) is None else f"{value:.{digits}f}"
        for name in METHODS
    ]
    best = max((text for text in shown if text not in ("", "-")), key=float)
    return [f"**{text}**" if text == best else text for text in shown]


STUDY = Study(
    name="held-out",
    title="Which model predicts answers that it has not seen?",
    full=Settings(tuple(SETS)),
    quick=Settings(("Formula 1: races",), n_folds=2, draws=20),
    compute=compute,
    tell=tell,
    data=FOLDERS,
    page="simulations",
)
