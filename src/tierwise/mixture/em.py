"""EM for mixtures of Mallows models, from many starts.

E step: the probability of each group for each answer. M step: share, tiers and theta of each group
given these. So Murphy and Martin (2003). EM does not leave tiers that are best for the memberships
they imply, so once it has settled, a local search tries swaps of items and other sizes on the
likelihood itself. EM begins at centres that are drawn as by k-means++ (Arthur and Vassilvitskii,
2007), some of them settled by k-means; of several short runs the best is followed to the end, the
emEM of Biernacki, Celeux and Govaert (2003). Where long runs end in different places, groups of the
best one are merged and others split, as long as that helps (Ueda et al., 2000).

References
----------
Murphy, T. B. and Martin, D. (2003). Mixtures of distance-based models for ranking data.
Computational Statistics & Data Analysis 41, 645-655.

Biernacki, C., Celeux, G. and Govaert, G. (2003). Choosing starting values for the EM algorithm for
getting the highest likelihood in multivariate Gaussian mixture models. Computational Statistics &
Data Analysis 41, 561-575.

Arthur, D. and Vassilvitskii, S. (2007). k-means++: the advantages of careful seeding. Proceedings
of the 18th ACM-SIAM Symposium on Discrete Algorithms, 1027-1035.

Ueda, N., Nakano, R., Ghahramani, Z. and Hinton, G. E. (2000). SMEM algorithm for mixture models.
Neural Computation 12, 2109-2128.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite, log
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tierwise.distances import Distance
from tierwise.mixture.groups import (
    Component,
    Components,
    DistinctAnswers,
    Fitter,
    GroupFitter,
    SearchOfSizes,
)
from tierwise.mixture.worths import WorthFitter
from tierwise.tiers import Sizes

GroupSizes: TypeAlias = Sizes | Literal["search"]
"""The sizes of a group's tiers, or that they are to be found."""
Depth: TypeAlias = Literal["nearby", "everywhere"]
"""Whether better sizes are searched by the first way only, which is the quickest, or by all."""

_Expected: TypeAlias = tuple[NDArray[np.float64], NDArray[np.float64]]
# Short runs, the best of which is followed to the end, and how many steps they have.
SHORT_RUNS = 5
_STEPS_OF_A_SHORT_RUN = 5
# Ways to merge and split that are tried in a round, how often each split is made again, how many of
# the results are followed on, and how far, and how many rounds there are.
_MOST_WAYS = 12
_SPLITS_OF_A_GROUP = 2
_PROMISING = 4
_STEPS_OF_A_PROMISING_RUN = 30
_MOST_ROUNDS = 10
# A group with less weight than this keeps its tiers and theta: nothing is there to fit them to.
_LEAST_WEIGHT = 1e-8
# A gain of a step, in units of log-likelihood, after which other tiers are worth a look.
_SETTLED = 0.05
# A local search must gain this much to count, so that it comes to an end.
_LEAST_GAIN = 1e-3
# Steps from the same groups after which EM goes on in their direction, where it can.
_STEPS_BEFORE_A_LEAP = 2
# What a uniform group is given of every answer at first.
_NOISE_AT_FIRST = 0.1
_ROUNDS_OF_K_MEANS = 10
# How firmly an answer belongs to its group at first: enough to tell the groups apart, not so much
# that an answer cannot change sides.
_FIRMNESS = 0.9
# An exponential of more than this is too large.
_LARGEST_LOG = 700.0
# Moves of an item of a group, and other sizes of it, that are followed for a few steps.
_ALTERED_GROUPS = 4


@dataclass(frozen=True, eq=False)
class EMRun:
    """Where EM led to from one start.

    Attributes
    ----------
    components
        The groups.
    shares
        Their shares.
    log_likelihood
        Log-likelihood of all answers.
    history
        Log-likelihood less the penalty of each group, after each step: never falling.
    converged
        Whether it stopped because a step gained next to nothing.
    """

    components: tuple[Component, ...]
    shares: NDArray[np.float64]
    log_likelihood: float
    history: tuple[float, ...]
    converged: bool

    @property
    def criterion(self) -> float:
        """What EM raises: the log-likelihood less the penalty of each group.

        That is the log number of its tiers; with worths, what these cost as well.
        """
        return self.history[-1]


@dataclass(frozen=True, eq=False)
class EMSettings:
    """What several short runs of EM and a long one need.

    Attributes
    ----------
    answers
        The answers to divide into groups.
    sizes
        Sizes of each group's tiers, or "search".
    uniform
        Whether the last of the groups is one in which all orderings are equally probable.
    distance
        The distance; None if tiers have worths.
    n_starts
        The number of short runs.
    tolerance, most_steps
        When EM stops.
    """

    answers: DistinctAnswers
    sizes: tuple[GroupSizes, ...]
    uniform: bool
    distance: Distance | None
    n_starts: int
    tolerance: float
    most_steps: int

    def fitter(self) -> Fitter:
        """Return what fits groups to the answers."""
        return make_fitter(self.answers, self.distance)


def make_fitter(answers: DistinctAnswers, distance: Distance | None) -> Fitter:
    """Return what fits groups at a distance, or with worths where there is none."""
    return WorthFitter(answers) if distance is None else GroupFitter(answers, distance)


def run_short_then_long(settings: EMSettings, seed: np.random.SeedSequence) -> EMRun:
    """Run EM for a few steps from several starts, and go on with the best (emEM)."""
    fitter = settings.fitter()
    rng = np.random.default_rng(seed)
    runs = []
    for number in range(settings.n_starts):
        # Settled centres are the better starts as a rule, but all end at the same few places.
        memberships = starting_memberships(
            settings.answers,
            len(settings.sizes) - settings.uniform,
            rounds=_ROUNDS_OF_K_MEANS if number % 2 == 0 else 0,
            rng=rng,
        )
        if settings.uniform:
            noise = np.full((len(memberships), 1), _NOISE_AT_FIRST)
            memberships = np.hstack([memberships * (1 - _NOISE_AT_FIRST), noise])
        components, shares = first_groups(fitter, settings.sizes, memberships)
        runs.append(
            run_em(
                fitter,
                settings.sizes,
                components,
                shares,
                tolerance=settings.tolerance,
                most_steps=min(_STEPS_OF_A_SHORT_RUN, settings.most_steps),
            )
        )
    ahead = max(runs, key=lambda run: run.criterion)
    steps_left = settings.most_steps - _STEPS_OF_A_SHORT_RUN
    if ahead.converged or steps_left <= 0:
        return ahead
    end = run_em(
        fitter,
        settings.sizes,
        ahead.components,
        ahead.shares,
        tolerance=settings.tolerance,
        most_steps=steps_left,
    )
    return EMRun(
        components=end.components,
        shares=end.shares,
        log_likelihood=end.log_likelihood,
        # The long run begins where the short one ended.
        history=ahead.history[:-1] + end.history,
        converged=end.converged,
    )


def split_and_merge(settings: EMSettings, run: EMRun, seed: np.random.SeedSequence) -> EMRun:
    """Change groups, as long as EM then ends higher.

    Groups are merged, or one is dropped, and another is split instead; an item of a group is moved
    to another place; a group gets other sizes, where these are searched for. Where none of this
    helps, a group is dropped and none is split.
    """
    fitter = settings.fitter()
    rng = np.random.default_rng(seed)
    seen: set[bytes] = set()
    for _ in range(_MOST_ROUNDS):
        seen.add(_fingerprint(run))
        memberships, _ = e_step(fitter, run.components, run.shares)
        divided = _split_groups(settings, fitter, run, memberships, rng)
        altered = _alter_groups(settings, fitter, run, memberships)
        best = _follow(settings, fitter, (divided, altered), seen)
        if best is None or best.criterion <= run.criterion + _LEAST_GAIN:
            dropped = _drop_groups(settings, fitter, run, memberships)
            best = _follow(settings, fitter, (dropped,), seen)
        if best is None or best.criterion <= run.criterion + _LEAST_GAIN:
            break
        run = best
    return run


def _follow(
    settings: EMSettings,
    fitter: Fitter,
    changes: tuple[list[Components], ...],
    seen: set[bytes],
) -> EMRun | None:
    """Follow changed groups for a few steps, and those that did not lead back for some more.

    The best is followed to the end, where sizes are searched in all ways; None if all led back.
    """
    steps = min(_STEPS_OF_A_SHORT_RUN, settings.most_steps)
    promising: list[EMRun] = []
    for changed in changes:
        short = [_run_from(settings, fitter, *groups, steps, "nearby") for groups in changed]
        short.sort(key=lambda other: other.criterion, reverse=True)
        followed: dict[bytes, EMRun] = {}
        for one in short:
            if len(followed) < _PROMISING and _fingerprint(one) not in seen:
                followed.setdefault(_fingerprint(one), one)
        seen.update(followed)
        further = min(_STEPS_OF_A_PROMISING_RUN, settings.most_steps)
        promising += [
            _run_from(settings, fitter, one.components, one.shares, further, "nearby")
            for one in followed.values()
        ]
    seen.update(map(_fingerprint, promising))
    if not promising:
        return None
    best = max(promising, key=lambda other: other.criterion)
    steps = settings.most_steps
    return _run_from(settings, fitter, best.components, best.shares, steps, "everywhere")


def _fingerprint(run: EMRun) -> bytes:
    """Return what tells the tiers of all groups, in any order, from others."""
    return b"".join(sorted(component.labels.tobytes() for component in run.components))


def _split_groups(
    settings: EMSettings,
    fitter: Fitter,
    run: EMRun,
    memberships: NDArray[np.float64],
    rng: np.random.Generator,
) -> list[tuple[tuple[Component, ...], NDArray[np.float64]]]:
    """Free a group in all ways, and split another, each of them a few times."""
    ways = _ways_to_change(len(settings.sizes) - settings.uniform)
    if len(ways) > _MOST_WAYS:
        ways = [ways[number] for number in rng.permutation(len(ways))[:_MOST_WAYS].tolist()]
    sizes = tuple(component.sizes for component in run.components)
    found = []
    for freed, receiver, divided in ways * _SPLITS_OF_A_GROUP:
        changed = _without(memberships, freed) if receiver is None else memberships.copy()
        if receiver is not None:
            changed[:, receiver] += changed[:, freed]
        halves = _split(settings.answers, changed[:, divided], rng)
        changed[:, [divided, freed]] = halves
        # Groups that take some answers of others keep their tiers.
        kept = tuple(
            None if group in (freed, receiver, divided) else component
            for group, component in enumerate(run.components)
        )
        found.append(first_groups(fitter, sizes, changed, kept))
    return found


def _without(memberships: NDArray[np.float64], group: int) -> NDArray[np.float64]:
    """Divide the answers of a group among all others."""
    changed = memberships.copy()
    changed[:, group] = 0.0
    total = changed.sum(axis=1, keepdims=True)
    changed += memberships[:, [group]] * changed / total.clip(1e-300)
    return changed


def _drop_groups(
    settings: EMSettings, fitter: Fitter, run: EMRun, memberships: NDArray[np.float64]
) -> list[tuple[tuple[Component, ...], NDArray[np.float64]]]:
    """Leave each group without answers, and without tiers: there may be fewer groups than these."""
    found = []
    for group, wanted in enumerate(settings.sizes[: len(settings.sizes) - settings.uniform]):
        if wanted == "search" and 0.0 < run.shares[group] < 1.0:
            sizes = [component.sizes for component in run.components]
            sizes[group] = (settings.answers.n_items,)
            kept = tuple(
                None if other == group else component
                for other, component in enumerate(run.components)
            )
            changed = _without(memberships, group)
            found.append(first_groups(fitter, tuple(sizes), changed, kept))
    return found


def _alter_groups(
    settings: EMSettings, fitter: Fitter, run: EMRun, memberships: NDArray[np.float64]
) -> list[tuple[tuple[Component, ...], NDArray[np.float64]]]:
    """Give each group other tiers: an item elsewhere or, where they are sought, other sizes."""
    found = []
    joint = log_joint(fitter, run.components, run.shares)
    for group, wanted in enumerate(settings.sizes[: len(settings.sizes) - settings.uniform]):
        own, component = settings.answers.weights * memberships[:, group], run.components[group]
        if own.sum() <= _LEAST_WEIGHT:
            continue
        rivals = fitter.altered(component, resize=wanted == "search")
        rivals.sort(key=_value_in_place(fitter, joint, group, float(run.shares[group])))
        rivals = rivals[-_ALTERED_GROUPS:]
        if wanted == "search":
            rivals += fitter.search(own, component)[1][:_ALTERED_GROUPS]
        for rival in rivals:
            components = (*run.components[:group], rival, *run.components[group + 1 :])
            found.append((components, run.shares))
    return found


def _ways_to_change(n_groups: int) -> list[tuple[int, int | None, int]]:
    """List which group is freed, which takes its answers (None is all), and which is split."""
    ways: list[tuple[int, int | None, int]] = []
    for divided in range(n_groups):
        others = [group for group in range(n_groups) if group != divided]
        ways += [(freed, None, divided) for freed in others]
        ways += [(freed, group, divided) for group in others for freed in others if freed > group]
    return ways


def _split(
    answers: DistinctAnswers, memberships: NDArray[np.float64], rng: np.random.Generator
) -> NDArray[np.float64]:
    """Divide the memberships of a group between two, around answers that lie far apart."""
    # Answers that surely belong elsewhere stay in the table, with next to no weight.
    own = answers.reweighted(answers.weights * memberships.clip(1e-300))
    shares = starting_memberships(own, 2, rounds=_ROUNDS_OF_K_MEANS, rng=rng)
    halves: NDArray[np.float64] = memberships[:, None] * shares
    return halves


def _run_from(
    settings: EMSettings,
    fitter: Fitter,
    components: tuple[Component, ...],
    shares: NDArray[np.float64],
    most_steps: int,
    depth: Depth,
) -> EMRun:
    return run_em(
        fitter,
        settings.sizes,
        components,
        shares,
        tolerance=settings.tolerance,
        most_steps=most_steps,
        depth=depth,
    )


def run_em(
    fitter: Fitter,
    sizes: tuple[GroupSizes, ...],
    components: tuple[Component, ...],
    shares: NDArray[np.float64],
    *,
    tolerance: float,
    most_steps: int,
    depth: Depth = "everywhere",
) -> EMRun:
    """Repeat E and M steps until a step gains less than the tolerance.

    Whenever little is left to gain in this way, and again at the end, a local search looks for
    better tiers, and for better sizes where they are to be found. Neither lowers the criterion.
    """
    history: list[float] = []
    trail: list[Components] = []
    settled = max(_SETTLED, tolerance)
    leapt: _Expected | None = None
    while True:
        memberships, log_totals = leapt or e_step(fitter, components, shares)
        leapt = None
        log_likelihood = _weighed(fitter, log_totals)
        history.append(log_likelihood - sum(map(fitter.penalty, components)))
        gain = history[-1] - history[-2] if len(history) > 1 else np.inf
        converged = False
        if gain < settled and len(history) <= most_steps:
            # On the way the quickest search will do.
            far = depth if gain < tolerance else "nearby"
            better = local_search(fitter, sizes, components, shares, far)
            if better is not None:
                components, trail, settled = better, [], max(_SETTLED, tolerance)
                continue
            converged, settled = gain < tolerance, tolerance
        if converged or len(history) > most_steps:
            return EMRun(components, shares, log_likelihood, tuple(history), converged)
        trail.append((components, shares))
        components, shares = m_step(fitter, components, memberships)
        if len(trail) == _STEPS_BEFORE_A_LEAP:
            (components, shares), leapt = _leap(fitter, trail, (components, shares), history[-1])
            trail = []


def _weighed(fitter: Fitter, log_totals: NDArray[np.float64]) -> float:
    """Log-likelihood of all answers; those that are held out do not count, however impossible."""
    weights = fitter.answers.weights
    if isfinite(log_totals.min()):
        return float(weights @ log_totals)
    counting = weights > 0
    return float(weights[counting] @ log_totals[counting])


def _leap(
    fitter: Fitter, trail: list[Components], here: Components, least: float
) -> tuple[Components, "_Expected | None"]:
    """Return where the last steps lead if they go on, unless that is worse than before them.

    What the E step finds there comes with it.
    """
    first, second = trail
    leapt = fitter.extrapolated(first, second, here)
    if leapt is None:
        return here, None
    expected = e_step(fitter, *leapt)
    value = _weighed(fitter, expected[1]) - sum(map(fitter.penalty, leapt[0]))
    return (leapt, expected) if value >= least else (here, None)


def first_groups(
    fitter: Fitter,
    sizes: tuple[GroupSizes, ...],
    memberships: NDArray[np.float64],
    known: tuple[Component | None, ...] | None = None,
) -> tuple[tuple[Component, ...], NDArray[np.float64]]:
    """Fit groups and shares to first memberships; a search begins with tiers of one item each.

    Groups that are known already begin with their tiers.
    """
    weights = fitter.answers.weights
    components = []
    known = (None,) * len(sizes) if known is None else known
    own_weights = np.ascontiguousarray((weights[:, None] * memberships).T)
    for wanted, own, current in zip(sizes, own_weights, known, strict=True):
        # A group without answers begins as that of everybody.
        enough = own.sum() > _LEAST_WEIGHT
        first = (1,) * fitter.answers.n_items if wanted == "search" else wanted
        first = first if current is None else current.sizes
        component, _ = fitter.fit(own if enough else weights, first, current)
        components.append(component)
    return tuple(components), weights @ memberships / weights.sum()


def e_step(
    fitter: Fitter, components: tuple[Component, ...], shares: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the probability of each group for each answer, and each answer's log probability."""
    return normalised(log_joint(fitter, components, shares))


def m_step(
    fitter: Fitter, components: tuple[Component, ...], memberships: NDArray[np.float64]
) -> tuple[tuple[Component, ...], NDArray[np.float64]]:
    """Fit each group to the answers, by how probably they belong to it."""
    weights = fitter.answers.weights
    fitted = []
    for own, component in zip((weights[:, None] * memberships).T, components, strict=True):
        if own.sum() > _LEAST_WEIGHT:
            fitted.append(fitter.fit(np.ascontiguousarray(own), component.sizes, component)[0])
        else:
            fitted.append(component)
    return tuple(fitted), weights @ memberships / weights.sum()


def log_joint(
    fitter: Fitter, components: tuple[Component, ...], shares: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Log of share times probability: ``[answer, group]``."""
    with np.errstate(divide="ignore"):
        log_shares = np.log(shares)
    # Columns lie together: what follows goes through all answers group by group.
    rows = np.array([fitter.log_probabilities(component) for component in components])
    rows += log_shares[:, None]
    joint: NDArray[np.float64] = rows.T
    return joint


def normalised(joint: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the share of each column in each row's total, and the log totals, from logarithms."""
    peak = joint.max(axis=1, initial=-np.inf)[:, None]
    # An answer that no group can give keeps log probability -inf, and belongs to none.
    peak = np.where(np.isfinite(peak), peak, 0.0)
    scaled = np.exp(joint - peak)
    total = scaled.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore"):
        log_totals = (np.log(total) + peak)[:, 0]
    return scaled / np.where(total > 0, total, 1.0), log_totals


def local_search(
    fitter: Fitter,
    sizes: tuple[GroupSizes, ...],
    components: tuple[Component, ...],
    shares: NDArray[np.float64],
    depth: Depth = "everywhere",
) -> tuple[Component, ...] | None:
    """Exchange groups for similar ones that make the answers more probable, if there are any.

    For each group the best swap of two items is tried, and other sizes where no swap helps.
    """
    better = list(components)
    joint = log_joint(fitter, components, shares)
    memberships = normalised(joint)[0]
    for search in fitter.searches if depth == "everywhere" else fitter.searches[:1]:
        for group, wanted in enumerate(sizes):
            own, share = np.ascontiguousarray(memberships[:, group]), float(shares[group])
            found, gain = fitter.best_swap(own, better[group])
            if gain <= _LEAST_GAIN:
                found = better[group]
                if wanted == "search":
                    found = _resize(fitter, search, found, joint, own, group, share)
            if found is not better[group]:
                better[group] = found
                joint[:, group] = log(share) + fitter.log_probabilities(found)
                memberships = normalised(joint)[0]
        if any(new is not old for new, old in zip(better, components, strict=True)):
            return tuple(better)
    return None


def _resize(
    fitter: Fitter,
    search: SearchOfSizes,
    component: Component,
    joint: NDArray[np.float64],
    memberships: NDArray[np.float64],
    group: int,
    share: float,
) -> Component:
    """Return the group with better tiers, or the group itself if none are found.

    Nothing but better worths, or another theta, are left to EM.
    """
    own = fitter.answers.weights * memberships
    if own.sum() <= _LEAST_WEIGHT:
        return component
    best, rivals = search(own, component)
    value = _value_in_place(fitter, joint, group, share)
    values = [value(one) for one in (best, *rivals)]
    highest = int(np.argmax(values))
    found = (best, *rivals)[highest]
    is_same = np.array_equal(found.labels, component.labels)
    return component if is_same or values[highest] <= value(component) + _LEAST_GAIN else found


def _value_in_place(
    fitter: Fitter, joint: NDArray[np.float64], group: int, share: float
) -> Callable[[Component], float]:
    """Return the criterion of all groups, but for a constant, as a function of one group."""
    peak = joint.max(axis=1)
    peak = np.where(np.isfinite(peak), peak, 0.0)
    others = np.exp(np.delete(joint, group, axis=1) - peak[:, None]).sum(axis=1)
    base = _weighed(fitter, peak)
    peak -= log(share)

    def value(candidate: Component) -> float:
        column = fitter.log_probabilities(candidate) - peak
        # Beyond, the others do not count, and the exponential would have no room.
        excess = np.maximum(column - _LARGEST_LOG, 0.0)
        with np.errstate(divide="ignore"):
            log_totals = np.log(others + np.exp(column - excess)) + excess
        return base + _weighed(fitter, log_totals) - fitter.penalty(candidate)

    return value


def starting_memberships(
    answers: DistinctAnswers, n_groups: int, *, rounds: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Divide the answers around some of them that lie far apart (k-means++).

    Distances are those of Spearman, between all ranks. For some rounds, the centres then move to
    the mean ranks of their groups (k-means).
    """
    ranks = answers.ranks
    centres = _scattered_centres(ranks, answers.weights, n_groups, rng)
    groups = _nearest(ranks, centres)
    for _ in range(rounds):
        for group in range(n_groups):
            weights = answers.weights * (groups == group)
            if weights.sum() > 0:
                centres[group] = weights @ ranks / weights.sum()
        groups = _nearest(ranks, centres)
    memberships = np.full((len(ranks), n_groups), (1 - _FIRMNESS) / n_groups)
    memberships[np.arange(len(ranks)), groups] += _FIRMNESS
    return memberships


def _scattered_centres(
    ranks: NDArray[np.float64],
    weights: NDArray[np.float64],
    n_centres: int,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Draw answers one by one, the more probable the farther from all drawn before."""
    centres = np.empty((n_centres, ranks.shape[1]))
    remoteness = np.ones(len(ranks))
    for number in range(n_centres):
        chances = weights * remoteness
        if chances.sum() <= 0:  # fewer distinct answers than groups
            chances = weights
        centres[number] = ranks[rng.choice(len(ranks), p=chances / chances.sum())]
        nearer = ((ranks - centres[number]) ** 2).sum(axis=1)
        remoteness = nearer if number == 0 else np.minimum(remoteness, nearer)
    return centres


def _nearest(ranks: NDArray[np.float64], centres: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the nearest centre of each answer."""
    # |r - c|^2 without |r|^2, which is the same for all centres.
    closeness = ranks @ centres.T - 0.5 * (centres**2).sum(axis=1)
    nearest: NDArray[np.int64] = closeness.argmax(axis=1)
    return nearest
