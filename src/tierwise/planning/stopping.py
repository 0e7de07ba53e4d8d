"""enough: whether published tiers are settled, and how many more answers would settle them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch
from math import ceil, inf, isfinite, nan
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from tierwise._util.cards import Card, Section, rows_of
from tierwise._util.checks import check_choice, check_count, check_number, spawn_seeds
from tierwise._util.columns import aligned, within
from tierwise._util.provenance import Stopwatch
from tierwise._util.results import Result
from tierwise._util.tasks import run_tasks
from tierwise.data.battles import Battles
from tierwise.data.frames import make_frame
from tierwise.data.kinds import check_data
from tierwise.data.rankings import Rankings
from tierwise.data.weights import EffectiveNumber
from tierwise.errors import InputError, counted, percent, share_in_words
from tierwise.luce.judges import at_effective_number
from tierwise.model.clustered_luce import ClusteredLuce
from tierwise.planning.asking import Alike, Model
from tierwise.planning.claims import (
    Settle,
    chances_of_claims,
    claims_hold,
    drawn_tiers,
    kinds_of_claims,
)
from tierwise.planning.plan import (
    CHAINS,
    DRAWS,
    add_answers,
    first_answers,
    model_of_draw,
    named_model,
    short_chains,
    where_reached,
)
from tierwise.posterior.chain import State as ChainState
from tierwise.posterior.run import DrawnTiers, draw_tiers_from, sample_posterior
from tierwise.posterior.ties import NEARLY_IN_WORDS
from tierwise.searching.choice import Choice, choose
from tierwise.tiers import plain_tiers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tierwise._util.checks import RandomSource
    from tierwise._util.provenance import Provenance
    from tierwise._util.tasks import Progress
    from tierwise.data.counts import Counts
    from tierwise.data.frames import Backend
    from tierwise.data.kinds import KnownData
    from tierwise.data.preferences import Preferences
    from tierwise.data.scan import RankingScan
    from tierwise.planning.claims import Kind, KindOfClaim, State
    from tierwise.posterior.result import Posterior
    from tierwise.tiers import Tiers

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

# How many further answers are tried, in units of those that there are.
_STEPS = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
# Chains of futures begin at draws of their posterior, so that they are short.
_DRAWS_OF_FUTURE = 500
# When simulated collections are looked at, in units of the answers that there are.
_LOOKS = (0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1.0)
_SHARE, _MOST_SHARE = 0.8, 0.9
# What a page can afford: items that battled, places in distinct rankings, and futures.
_MOST_ITEMS, _MOST_CELLS, _FUTURES_WHERE_CHEAP = 15, 600, 50


@dataclass(frozen=True, eq=False)
class Claim(Result):
    """A claim of published tiers, its probability, and when it will be settled.

    Attributes
    ----------
    kind
        "boundary": all items of the tier are better than all of the next one. "tie": all items of
        the tier are tied or nearly tied: none would be preferred to another by more than 55%.
    tier
        The number of the tier, 1 being the best.
    probability
        Probability that it holds; for ties, under the "uniform" prior of sizes, as in
        `Posterior.tied_or_nearly_probabilities`.
    state
        "settled" if that is at least the required certainty, "ruled out" if the same is true of its
        contrary, otherwise "open".
    shares
        The share of simulated futures in which it is no longer open, for each number of further
        answers tried (`Enough.further_tried`).
    further
        The number of further answers with which it is no longer open in 80% of the simulated
        futures; 0 if it is not open, None if more are needed than were tried.
    interval
        The same for 10% and 90% of the futures; None means more than were tried.
    """

    kind: Kind
    tier: int
    probability: float
    state: State
    shares: tuple[float, ...]
    further: int | None
    interval: tuple[int | None, int | None]

    @property
    def settled(self) -> bool:
        """Whether it holds with the required certainty."""
        return self.state == "settled"

    @property
    def name(self) -> str:
        """The claim in words."""
        if self.kind == "tie":
            return f"the tie within tier {self.tier}"
        return f"the boundary between tiers {self.tier} and {self.tier + 1}"


@dataclass(frozen=True, eq=False, repr=False)
class Enough(Result):
    """Whether there are enough answers; `enough` makes it.

    Attributes
    ----------
    tiers : Tiers
        The tiers that would be published now.
    claims : tuple of Claim
        The boundaries between them, and ties on request.
    certainty : float
        A claim is settled if it holds with this probability or more.
    n_answers : float
        The number of answers.
    further_tried : tuple of int
        The numbers of further answers at which futures were checked.
    n_futures : int
        Number of simulated futures.
    n_streams : int
        Number of data collections simulated from the start, to estimate how often the rule errs.
    n_looks : int
        The number of looks at each of them.
    n_stopped, n_wrong : int
        In how many of them the rule said "enough" at some look, and in how many of these a
        published claim was wrong.
    choice : Choice
        The model, what it was compared with, and its most probable tiers.
    provenance : Provenance
        Version, seed and time.
    """

    tiers: Tiers
    claims: tuple[Claim, ...]
    certainty: float
    n_answers: float
    further_tried: tuple[int, ...]
    n_futures: int
    n_streams: int
    n_looks: int
    n_stopped: int
    n_wrong: int
    choice: Choice
    provenance: Provenance

    @property
    def settled(self) -> bool:
        """Whether all claims are settled."""
        return all(claim.settled for claim in self.claims)

    @property
    def further(self) -> int | None:
        """How many further answers settle all claims, each in 80% of the futures."""
        wanted = [claim.further for claim in self.claims]
        return None if None in wanted else max(one or 0 for one in wanted)

    @property
    def most_wrong(self) -> float | None:
        """Upper 95% bound of the error rate of the rule; None if nothing was simulated."""
        from scipy.stats import beta

        if not self.n_streams:
            return None
        return float(beta.ppf(0.95, self.n_wrong + 1, self.n_streams - self.n_wrong))

    def sentence(self) -> str:
        """Return a sentence on whether there are enough answers, or how many more are needed."""
        open_ones = [claim for claim in self.claims if claim.state == "open"]
        ruled_out = [claim.name for claim in self.claims if claim.state == "ruled out"]
        if not open_ones and ruled_out:
            return (
                f"More answers will not settle {ruled_out[0]}: with a probability of "
                f"{percent(self.certainty)} or more it does not hold for all items."
            )
        if not open_ones:
            what = {"boundary": "each boundary", "tie": "each tie"}
            kinds = dict.fromkeys(claim.kind for claim in self.claims)
            return (
                f"Enough: {' and '.join(what[kind] for kind in kinds)} holds with a probability of "
                f"{percent(self.certainty)} or more."
            )
        worst = max(
            open_ones, key=lambda one: (inf if one.further is None else one.further, one.tier)
        )
        if not self.n_futures:
            return (
                f"Not yet: {worst.name} holds with a probability of "
                f"{share_in_words(worst.probability)}."
            )
        if worst.further is None:
            return (
                f"Not yet: {worst.name} would still be open with {self.further_tried[-1]:,} "
                f"further answers of this kind in more than {percent(1 - _SHARE)} of the simulated "
                "futures."
            )
        return (
            f"With about {worst.further:,} further answers of this kind {worst.name} would be "
            f"settled ({percent(_SHARE)})."
        )

    def caution(self) -> str:
        """Return a sentence on how often the rule errs with repeated looks."""
        if self.most_wrong is None:
            return "The error rate of this rule was not simulated."
        return (
            f"With {self.n_looks} looks on the way, the rule stopped {self.n_stopped} of "
            f"{self.n_streams} simulated collections, {self.n_wrong} of them with a wrong "
            f"claim (at most {self.most_wrong:.0%} of all, with 95% confidence)."
        )

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Return the header and the rows as people read them."""
        header = ["claim", "holds", "further answers (80%)", "10% to 90%"]
        cells = []
        for claim in self.claims:
            low, high = (_number(bound) for bound in claim.interval)
            is_open = claim.state == "open" and self.n_futures > 0
            further = _number(claim.further) if is_open else claim.state
            span = (f"{low} to {high}" if low != high else low) if is_open else ""
            name = claim.name.removeprefix("the ")
            cells.append([name, share_in_words(claim.probability), further, span])
        return header, cells

    def columns(self) -> dict[str, list[Any]]:
        """Return the claims by columns."""
        return {
            "claim": [claim.kind for claim in self.claims],
            "tier": [claim.tier for claim in self.claims],
            "probability": [claim.probability for claim in self.claims],
            "state": [claim.state for claim in self.claims],
            "further": [claim.further for claim in self.claims],
            "further_low": [claim.interval[0] for claim in self.claims],
            "further_high": [claim.interval[1] for claim in self.claims],
        }

    def to_frame(self, *, backend: Backend = "pandas") -> Any:
        """Return the claims as a data frame of pandas, polars or pyarrow."""
        return make_frame(self.columns(), backend)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, as in JSON."""
        return {
            "tiers": plain_tiers(self.tiers),
            "settled": self.settled,
            "sentence": self.sentence(),
            "caution": self.caution(),
            "certainty": self.certainty,
            "answers": self.n_answers,
            "further": self.further,
            "further_tried": list(self.further_tried),
            "claims": [
                {
                    "kind": claim.kind,
                    "tier": claim.tier,
                    "probability": claim.probability,
                    "state": claim.state,
                    "shares": list(claim.shares),
                    "further": claim.further,
                    "interval": list(claim.interval),
                }
                for claim in self.claims
            ],
            "futures": self.n_futures,
            "streams": self.n_streams,
            "looks": self.n_looks,
            "stopped": self.n_stopped,
            "wrong": self.n_wrong,
            "choice": self.choice.to_dict(),
            "provenance": self.provenance.to_dict(),
        }

    def summary(self, width: int = 88) -> str:
        """Return the result as text.

        Parameters
        ----------
        width
            The width of the text, in characters.
        """
        header, cells = self.table()
        lines = [self.sentence(), "", *aligned([header, *cells], left=(0,))]
        note = [f"Forecasts from {counted(self.n_futures, 'simulated future')}."]
        note = [*(note if self.n_futures else []), self.caution()]
        if any(claim.kind == "tie" for claim in self.claims):
            note.append(f"Ties: {NEARLY_IN_WORDS}.")
        return within("\n".join([*lines, "", " ".join(note)]), width)

    def __repr__(self) -> str:
        return f"Enough({self.sentence()!r})"

    def _card(self) -> Card:
        title = "Are there enough answers?"
        tiers = [Section(rows_of(self.tiers))]
        return Card(title, sections=tiers, table=self.table(), note=self.sentence())


def enough(
    data: Rankings | RankingScan | Battles,
    *,
    settle: Settle = "differences",
    certainty: float = 0.95,
    choice: Choice | None = None,
    futures: int = 100,
    streams: int = 20,
    workers: int | None = None,
    progress: Progress = "auto",
    rng: RandomSource = None,
) -> Enough:
    """Find whether the tiers are settled, and how many more answers would settle them.

    A boundary between two tiers is settled if all items of one are better than all items of the
    next with a given probability; a tie is settled if all items of the tier are tied or nearly tied
    with that probability. A claim is ruled out if its contrary has that probability. The number of
    further answers comes from simulated futures: a posterior draw, near ties included, is taken as
    the truth, further answers of the same kind are drawn from it, and the analysis is repeated with
    them. Futures in which a claim stays open count as open. Because people look repeatedly while
    answers come in, the function also simulates how often this rule would have stopped with a wrong
    claim.

    Parameters
    ----------
    data
        The answers so far.
    settle
        "differences": settle all boundaries (and the tie, if all items are tied). "tiers": settle
        all ties too, which takes many more answers.
    certainty
        A claim is settled if it holds with this probability or more.
    choice
        The result of `choose` for the data, to avoid comparing the models again.
    futures
        The number of simulated futures. Each repeats the analysis up to seven times, with short
        chains that begin at the truth. With fewer than about 50 futures, finite numbers tend to be
        too small.
    streams
        The number of data collections to simulate from the start, with the current tiers as the
        truth; 0 skips this. Each repeats the analysis up to eight times.
    workers, progress, rng
        As in `search`. The same seed gives the same answer.

    Examples
    --------
    >>> import tierwise as tw
    >>> model = tw.ClusteredLuce(tw.Tiers([["a"], ["b", "c"]]), (9.0, 1.0))
    >>> tw.enough(model.sample(100, rng=1), futures=4, streams=0, rng=1).settled
    True
    """
    watch = Stopwatch()
    known = at_effective_number(check_data(data, "enough", Rankings, Battles, weights="effective"))
    if not 0.5 <= check_number("certainty", certainty) < 1.0:
        raise InputError(f"certainty must be at least 0.5 and below 1; got {certainty}")
    check_choice("settle", settle, get_args(Settle))
    check_count("futures", futures, 0)
    check_count("streams", streams, 0)
    seeds = spawn_seeds(rng, 4)
    if choice is None:
        choice = choose(known, workers=workers, progress=progress, rng=seeds[0])
    known, per_answer = _independent(known)
    posterior = _posterior(known, choice, seeds[1])
    tiers = choice.fit.tiers
    labels = tiers.label_array(known.items)
    kinds = kinds_of_claims(labels, settle)
    chances = chances_of_claims(labels, kinds, drawn_tiers(posterior))
    states = chances.states(certainty)
    steps = np.unique([ceil(step * known.n_rankings) for step in _STEPS]).tolist()
    n_futures = futures if "open" in states else 0
    drawn = np.random.default_rng(seeds[2]).integers(len(posterior.labels), size=n_futures)
    truths = [
        (model_of_draw(posterior, draw), _state_of_draw(posterior, draw)) for draw in drawn.tolist()
    ]
    of_futures = seeds[2].spawn(n_futures)
    shares = np.zeros((0, len(kinds)))
    for place in range(len(steps) if n_futures else 0):
        decided = run_tasks(
            _future,
            [
                (known, choice, *truth, labels, kinds, steps[: place + 1], certainty, seed)
                for truth, seed in zip(truths, of_futures, strict=True)
            ],
            description=f"simulated futures of {steps[place]:,} answers",
            workers=workers,
            progress=progress,
        )
        # What comes is one more future: at most so probable is that it is among those counted.
        shares = np.vstack([shares, np.sum(decided, axis=0) / (n_futures + 1.0)])
        if (shares[-1] >= _MOST_SHARE).all():
            break
    tried = [ceil(per_answer * step) for step in steps[: len(shares)]]
    rule = run_tasks(
        _stream,
        [(known, choice, settle, certainty, seed) for seed in seeds[3].spawn(streams)],
        description="simulated collections",
        workers=workers,
        progress=progress,
    )
    return Enough(
        tiers=tiers,
        claims=tuple(
            _claim(kind, tier + 1, float(chance), state, tried, shares_of_claim)
            for (kind, tier), chance, state, shares_of_claim in zip(
                kinds, chances.holds, states, shares.T, strict=True
            )
        ),
        certainty=certainty,
        n_answers=per_answer * float(known.n_rankings),
        further_tried=tuple(tried),
        n_futures=n_futures,
        n_streams=streams,
        n_looks=len(_LOOKS),
        n_stopped=sum(stopped for stopped, _ in rule),
        n_wrong=sum(wrong for _, wrong in rule),
        choice=choice,
        provenance=watch.provenance(rng),
    )


def forecast_where_cheap(
    data: Rankings | Preferences | Battles | Counts, choice: Choice, progress: Progress = "off"
) -> Enough | None:
    """Return a forecast if it takes a second or two, as far as sizes tell, else None.

    That takes tiers with worths, and few items that battled or few rankings: chains of futures
    work from counts of pairs, or ranking by ranking, with up to nine times as many as there are.
    """
    if not _are_few(data) or choice.family != "luce" or len(choice.fit.tiers) == 1:
        return None
    with short_chains():
        return enough(
            data,  # type: ignore[arg-type]
            choice=choice,
            futures=_FUTURES_WHERE_CHEAP,
            streams=0,
            workers=1,
            progress=progress,
            rng=0,
        )


@singledispatch
def _are_few(_data: KnownData) -> bool:
    """Return whether chains of futures of these data take a second or two."""
    return False


@_are_few.register(Battles)
def _are_few_battles(battles: Battles) -> bool:
    return len(battles.items) <= _MOST_ITEMS


@_are_few.register(Rankings)
def _are_few_rankings(rankings: Rankings) -> bool:
    return rankings.patterns.size <= _MOST_CELLS


@singledispatch
def _independent(data: Rankings | Battles) -> tuple[Rankings | Battles, float]:
    """Return data whose answers are independent, and how many of the answers given stand for one.

    Answers of one person, or of one kind of people, say less.
    """
    raise TypeError(f"no further {data.unit} are forecast")


@_independent.register(Battles)
def _independent_battles(battles: Battles) -> tuple[Battles, float]:
    effect = battles.design_effect or 1.0
    decided, drawn = battles.decided / effect, battles.drawn / effect
    return Battles(battles.items, decided, drawn, battles.drawn_as), effect


@_independent.register(Rankings)
def _independent_rankings(rankings: Rankings) -> tuple[Rankings, float]:
    number = rankings.n_rankings
    if isinstance(number, EffectiveNumber):
        return rankings, number.n_answers / float(number)
    return rankings, 1.0


def _posterior(data: Rankings | Battles, choice: Choice, seed: np.random.SeedSequence) -> Posterior:
    with short_chains():
        return sample_posterior(
            data,
            distance=choice.distance or None,
            family=choice.family,
            concentration="tier" if choice.concentration == "tier" else "single",
            chains=CHAINS,
            draws=DRAWS,
            workers=1,
            progress="off",
            rng=seed,
        )


def _state_of_draw(posterior: Posterior, draw: int) -> ChainState:
    """Return a draw of a posterior as the point of a chain."""
    labels = posterior.labels[draw] - 1
    sizes = tuple(np.bincount(labels).tolist())
    if posterior.family == "luce":
        first, drawn = (
            nan if factors is None else float(factors[draw])
            for factors in (posterior.first_factors, posterior.draw_factors)
        )
        worths = posterior.log_worths[draw]
        return ChainState(
            labels, sizes, nan, nan, log_worths=worths, first_factor=first, draw_factor=drawn
        )
    theta = float(posterior.thetas[draw]) if posterior.concentration == "single" else nan
    return ChainState(labels, sizes, nan, theta)


def _future(
    data: Rankings | Battles,
    choice: Choice,
    model: Model,
    truth: ChainState,
    labels: Integers,
    kinds: Sequence[KindOfClaim],
    steps: Sequence[int],
    certainty: float,
    seed: np.random.SeedSequence,
) -> list[bool]:
    """Whether each claim is no longer open in one future, with as many answers as the last step."""
    further = first_answers(model, Alike(data), steps, seed)
    chain = np.random.SeedSequence(entropy=seed.entropy, spawn_key=(*seed.spawn_key, 1, len(steps)))
    draws = draw_tiers_from(add_answers(data, further), choice, truth, _DRAWS_OF_FUTURE, chain)
    chances = chances_of_claims(labels, kinds, draws)
    return [state != "open" for state in chances.states(certainty)]


def _stream(
    data: Rankings | Battles,
    choice: Choice,
    settle: Settle,
    certainty: float,
    seed: np.random.SeedSequence,
) -> tuple[bool, bool]:
    """Collect answers from nothing, look now and then, and stop when all claims are settled.

    Return whether that happened, and whether some claim was wrong then.
    """
    model = choice.fit.model()
    labels = model.tiers.label_array(data.items)
    logs = np.log(model.worths)[labels][None] if isinstance(model, ClusteredLuce) else None
    truth = DrawnTiers(labels[None] + 1, logs)
    first, second = seed.spawn(2)
    numbers = np.unique([max(ceil(look * data.n_rankings), 2) for look in _LOOKS]).tolist()
    for place in range(len(numbers)):
        answers = first_answers(model, Alike(data), numbers[: place + 1], first)
        found = choose(answers, **named_model(model, answers), progress="off", rng=second)
        labels = found.fit.tiers.label_array(data.items)
        kinds = kinds_of_claims(labels, settle)
        draws = drawn_tiers(_posterior(answers, found, second))
        chances = chances_of_claims(labels, kinds, draws)
        if (chances.holds >= certainty).all():
            return True, not claims_hold(labels, kinds, truth).all()
    return False, False


def _claim(
    kind: Kind, tier: int, chance: float, state: State, tried: Sequence[int], shares: Floats
) -> Claim:
    if state != "open":
        return Claim(kind, tier, chance, state, shares=(), further=0, interval=(0, 0))
    reached = [where_reached(tried, shares, share) for share in (_SHARE, 0.1, _MOST_SHARE)]
    further, low, high = (ceil(one) if isfinite(one) else None for one in reached)
    return Claim(kind, tier, chance, state, tuple(shares.tolist()), further, (low, high))


def _number(value: int | None) -> str:
    return "more" if value is None else f"{value:,}"
