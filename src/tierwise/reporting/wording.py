"""The sentences of a report."""

from __future__ import annotations

from math import isinf
from typing import TYPE_CHECKING

import numpy as np

from tierwise.data.description_of_pairs import PairsDescription
from tierwise.errors import BEHIND_IS, counted, listed, percent, share_in_words
from tierwise.fitting.resampled import Bootstrap
from tierwise.fitting.summary import (
    mistakes_in_words,
    names_of_parts,
    what_agrees,
    what_is_ordered,
)
from tierwise.model.ranks import tiers_among
from tierwise.posterior.ties import NEARLY_IN_WORDS
from tierwise.reporting.tables import probabilities_by_item
from tierwise.searching.result import NOT_DECIDED, not_compared, verdict

if TYPE_CHECKING:
    from tierwise.data.description import Description, Pair
    from tierwise.fitting.neighbours import NeighbourAgreement
    from tierwise.fitting.result import Fit
    from tierwise.posterior.result import Posterior
    from tierwise.reporting.analysis import Analysis
    from tierwise.searching.result import Search

# A claim with this probability or more counts as known.
_SURE = 0.95


def opening(analysis: Analysis) -> list[str]:
    """Say what the tiers mean and how certain they are."""
    fit = analysis.fit
    sentences = [fit.verdict()]
    if len(fit.tiers) > 1:
        sentences.append(f"{fit.agreement:.0%} of {what_is_ordered(fit)} in tier order.")
    sentences += [_theta(analysis), _mistakes(analysis), _how_sure(analysis)]
    return [sentence for sentence in sentences if sentence]


def about_data(analysis: Analysis) -> list[str]:
    """Describe the rankings."""
    description = analysis.description
    if isinstance(description, PairsDescription):
        sentences = [
            f"{counted(description.n_answers, 'answer')} about pairs of "
            f"{counted(len(description.items), 'item')}, by "
            f"{counted(description.n_assessors, 'assessor')}.",
            *description.sentences(),
        ]
    else:
        sentences = _about_rankings(description)
    sentences += [_most_even(pair, description) for pair in description.closest_pairs(1)]
    return sentences


def about_reading(analysis: Analysis) -> list[str]:
    """Say how the file was read, and what was set aside."""
    notes = analysis.description.reading
    if notes is None:
        return []
    rows = f": {counted(notes.n_answers, 'row')}" if notes.n_answers else ""
    return [
        f"Read from {notes.file or 'a data frame'}{rows}.",
        *notes.sentences(lambda remark: remark.problem),
    ]


def _most_even(pair: Pair, description: Description | PairsDescription) -> str:
    """Say on which pair of items opinion is most evenly split."""
    if pair.share == 1.0:
        return "Nobody disagrees about any pair of items."
    preferred = f"rank {pair.above} above"
    if isinstance(description, PairsDescription):
        preferred = f"prefer {pair.above}"
    return (
        f"Opinion is most evenly split between {pair.above} and {pair.below}: "
        f"{pair.share:.1%} {preferred}."
    )


def _about_rankings(description: Description) -> list[str]:
    total = description.n_rankings
    sentences = [
        f"{counted(total, 'ranking')} of {counted(len(description.items), 'item')}"
        f"{_how_different(description)}."
    ]
    if description.unranked is None:
        sentences.append(f"{'The' if total == 1 else 'Every'} ranking lists every item.")
    else:
        meaning = {"below": "come below those that are", "anywhere": "may have any rank"}
        sentences.append(
            f"{description.n_complete / total:.0%} of them list every item; the average ranking "
            f"lists {description.mean_listed:.1f}. Items not listed "
            f"{meaning[description.unranked]}."
        )
    if description.n_with_ties:
        sentences.append(f"{description.n_with_ties / total:.0%} contain ties.")
    return sentences


def _how_different(description: Description) -> str:
    """Say how many of the rankings are different, unless there is only one."""
    if description.n_rankings == 1:
        return ""
    if description.n_distinct == 1:
        return ", all of them the same"
    return f"; {description.n_distinct:,} of them are distinct"


def about_sizes(analysis: Analysis) -> list[str]:
    """Say how the sizes were found and how clear the choice is."""
    found = analysis.search
    noun = "answers" if analysis.fit.pairwise else "rankings"
    explained = (
        "The criterion is the log-likelihood minus the log of the number of tier lists with "
        f"the same sizes. It asks whether finer tiers describe the {noun} so much better "
        "that they are worth it. A difference of 3 is a factor of 20 in probability."
    )
    if found is None:
        return ["The sizes were given, not searched for.", explained]
    if found.criterion == "posterior":
        explained = (
            f'They were compared by {BEHIND_IS}, to which the column "behind" refers: theta is '
            "averaged over, and half of the prior probability belongs to no tiers, so chance is "
            "seldom mistaken for tiers. "
        ) + explained
    if found.exhaustive:
        how = f"All size vectors were compared: {found.evaluated:,}."
    elif found.method == "all sizes":
        how = (
            "Tiers of all sizes were searched at once until no move of an item or a tier "
            f"helped; the search may have missed better ones. {found.evaluated:,} size "
            "vectors were evaluated."
        )
    else:
        how = (
            f"Only some size vectors were compared ({found.evaluated:,}, by {found.method} "
            "search); the search may have missed a better one."
        )
    gap = found.runner_up_gap
    if analysis.fit.family == "luce":
        explained = (
            f'They were compared by {BEHIND_IS}, to which the column "behind" refers: worths are '
            "averaged over, and half of the prior probability belongs to no tiers, so chance is "
            "seldom mistaken for tiers."
        )
    sentences = [how, explained, *_families(found)]
    if not isinf(gap):
        sentences.append(verdict(found, "left out"))
    if found.doubtful:
        sentences.append(
            "Monte Carlo error leaves open whether "
            f"{counted(len(found.doubtful), 'other size vector')} "
            f"{'is' if len(found.doubtful) == 1 else 'are'} better."
        )
    return sentences


def _families(found: Search) -> list[str]:
    """Say which model describes the data best, and what was not compared."""
    best, *others = found.families
    if not others or len(best.sizes) == 1:
        said = []
    else:
        standings = listed(tuple(f"{other.name} ({other.standing})" for other in others))
        said = [
            f"Of the models compared, {best.name} describes the data best, ahead of {standings}."
        ]
        if others[0].behind < 0.0:
            said = [f"{NOT_DECIDED}: {standings}."]
    return said + not_compared(found)


def about_agreement(analysis: Analysis) -> list[str]:
    """Say where people agree, and whether the data or the user chose this model."""
    fit = analysis.fit
    kind = _kind(fit.concentration)
    if analysis.thetas_were_open:
        sentences = [f"Chosen by the data: {kind}.", *_why(analysis)]
    else:
        sentences = [f"As requested: {kind}."]
    sentences.append(
        "The figure shows what that means: the probability that a person ranks an item of a "
        "tier above one of the next. 50% is a coin toss."
    )
    agreed = [one for one in analysis.neighbours if one.below is not None]
    if len(agreed) > 1:
        most = max(agreed, key=lambda one: one.probability)
        least = min(agreed, key=lambda one: one.probability)
        sentences.append(
            f"The clearest step is {most.name} ({_with_interval(most, fit)}), the least clear is "
            f"{least.name} ({_with_interval(least, fit)})."
        )
    if not all(one.exact for one in analysis.neighbours):
        sentences.append(
            "These probabilities are estimated from 20,000 draws from the model, with an error "
            "below one percentage point."
        )
    return [*sentences, _divided(fit)] if fit.divided else sentences


def _kind(concentration: str) -> str:
    return "one theta for all" if concentration == "single" else f"one theta per {concentration}"


def _why(analysis: Analysis) -> list[str]:
    """Say by what, and by how much, the kind of concentration was chosen."""
    found, fit = analysis.search, analysis.fit
    if found is None:
        return [f"Decided by: {fit.concentration_reason}."] if fit.concentration_reason else []
    best, *others = found.families
    if not others:
        return ["Nothing else could be compared for these answers."]
    behind = [f"{other.name} is {other.standing}" for other in others]
    return [f"Compared by {BEHIND_IS}, {best.name} comes first; {listed(tuple(behind))}."]


def _with_interval(one: NeighbourAgreement, fit: Fit) -> str:
    low, high = map(share_in_words, one.interval)
    return f"{share_in_words(one.probability)}, {percent(fit.level)} interval {low} to {high}"


def _divided(fit: Fit) -> str:
    """Say what people are divided about, and what that means."""
    if not fit.divided:
        return ""
    them, they_are = ("it", "it is") if len(fit.divided) == 1 else ("them", "they are")
    return (
        f"People are divided about {listed(fit.divided)}: some rank {them} high and others low, "
        f"so {they_are} neither better nor worse than the tiers."
    )


def _several_thetas(fit: Fit) -> str:
    """Write each theta with its interval."""
    written = []
    for name, estimate in zip(names_of_parts(fit), fit.theta_estimates, strict=True):
        low, high = estimate.interval
        if isinf(estimate.standard_error):
            written.append(f"{name}: not identified by the data")
        elif isinf(estimate.value):
            written.append(f"{name}: infinite (at least {low:.3g})")
        else:
            written.append(f"{name}: {estimate.value:.4f} ({low:.4f} to {high:.4f})")
    intervals = f"{percent(fit.level)} intervals in parentheses"
    return f"one per {fit.concentration}, {intervals}. " + "; ".join(written)


def diagnostics(analysis: Analysis) -> list[tuple[str, str]]:
    """Return the diagnostics: a name and a statement each."""
    fit, check, found = analysis.fit, analysis.check, analysis.search
    rows = [("tiers", _optimality(analysis))]
    error = fit.log_likelihood_error
    likelihood = f"by {fit.partition_method}, " + (
        f"estimated with a standard error of {error:.2g} in the log-likelihood"
        if error
        else "exact"
    )
    rows.append(("likelihood" if fit.family == "luce" else "partition function", likelihood))
    if fit.family == "luce":
        pass
    elif fit.concentration != "single":
        rows.append(("theta", _several_thetas(fit)))
    elif not isinf(fit.thetas[0]):
        low, high = fit.theta_estimate.interval
        settled = "" if fit.theta_estimate.converged else "; NOT CONVERGED"
        rows.append(
            (
                "theta",
                f"{fit.theta_text()}, standard error {fit.theta_estimate.standard_error:.4f}, "
                f"{percent(fit.level)} interval {low:.4f} to {high:.4f} "
                f"({fit.theta_estimate.method}{settled})",
            )
        )
    if found is not None:
        rows.append(("search", "every size vector" if found.exhaustive else f"{found.method}"))
    rows.append(("certainty", _sampling(analysis)))
    rows.append(
        (
            "expected proportions",
            "exact, over all orderings"
            if check.exact
            else "estimated by draws from the model, standard error at most "
            f"{100 * check.monte_carlo_error:.2f} percentage points",
        )
    )
    return rows


def _theta(analysis: Analysis) -> str:
    fit = analysis.fit
    if len(fit.tiers) == 1:
        return ""
    if fit.family == "luce":
        first, last = fit.strengths[0], fit.strengths[-1]
        return (
            f"The first tier is {first - last:.0f} points ahead of the last on the Elo scale: its "
            "items are ranked before those of the last with a probability of "
            f"{1 / (1 + 10 ** ((last - first) / 400)):.0%}."
        )
    if fit.concentration != "single":
        return f"{_divided(fit)} How much people agree differs by {fit.concentration}.".strip()
    if isinf(fit.thetas[0]):
        return f"Theta is infinite: {what_agrees(fit)}."
    low, high = fit.theta_estimate.interval
    return (
        f"Opinion is concentrated around the tiers with theta {fit.theta_text('.3f')} "
        f"({percent(fit.level)} interval {low:.3f} to {high:.3f}); 0 would mean no agreement at "
        "all."
    )


def _mistakes(analysis: Analysis) -> str:
    sentence = mistakes_in_words(analysis.fit)
    return f"{sentence}." if sentence else ""


def _how_sure(analysis: Analysis) -> str:
    sampled, shares = analysis.sampled, probabilities_by_item(analysis)
    tiers = analysis.fit.agreed_tiers
    if len(tiers) == 1:
        return _whether_the_same(sampled)
    ranked = np.array([item in tiers.items for item in sampled.items])
    own = [tiers[item] for item in sampled.items if item in tiers.items]
    these = (tiers_among(sampled.labels, ranked) == np.array(own)).all(axis=1)
    same = float(these.mean())
    if not (isinstance(sampled, Bootstrap) or these.all()):
        same = float(sampled.sameness_weights @ these)
    least = min(tiers.items, key=lambda item: shares[item][tiers[item] - 1])
    least_share = shares[least][tiers[least] - 1]
    what = (
        f"of {counted(len(sampled), 'resampled data set')}"
        if isinstance(sampled, Bootstrap)
        else f"of {counted(len(sampled), 'draw')} from the posterior"
    )
    fixed = analysis.search is None or isinstance(sampled, Bootstrap)
    held = "With these sizes, exactly" if fixed and fit_is_mallows(analysis) else "Exactly"
    if same == 1.0:
        return f"{held} these tiers come out in all {what.removeprefix('of ')}."
    sentence = f"{held} these tiers come out in {share_in_words(same)} {what}"
    if not isinstance(sampled, Bootstrap) and analysis.search is not None:
        sentence += (
            f", under a prior that does not favour few tiers; items of a tier are {NEARLY_IN_WORDS}"
        )
    return f"{sentence}; the least certain item is {least} ({share_in_words(least_share)})."


def _whether_the_same(sampled: Bootstrap | Posterior) -> str:
    """Say whether no tiers means that there are no differences, or that none can be seen."""
    if isinstance(sampled, Bootstrap) or sampled.sizes is not None:
        return ""
    same = sampled.all_tied_or_nearly_probability()
    nearly = f"all items are {NEARLY_IN_WORDS} (probability {share_in_words(same)})"
    if same >= _SURE:
        return f"The answers even show that {nearly}."
    return f"The answers do not separate the items, nor do they show that {nearly}."


def fit_is_mallows(analysis: Analysis) -> bool:
    """Whether there is a theta, and resampling holds sizes fixed."""
    return analysis.fit.family == "mallows"


def _optimality(analysis: Analysis) -> str:
    fit = analysis.fit
    if len(fit.tiers) == 1:
        return "a single tier with all items; nothing to choose"
    if not fit.optimal:
        return f"found by {fit.method}; not proved to be the best with these sizes"
    if fit.n_optima == 1:
        return f"proved by {fit.method} to be the unique best with these sizes"
    if fit.alternatives:
        return (
            f"proved by {fit.method} to be best with these sizes; others are equally good, such "
            f"as {fit.alternatives[0]}"
        )
    return f"proved by {fit.method} to be best with these sizes"


def _sampling(analysis: Analysis) -> str:
    sampled = analysis.sampled
    if isinstance(sampled, Bootstrap):
        error = 50 / len(sampled) ** 0.5
        return (
            f"{len(sampled)} {sampled.kind} bootstrap replicates{sampled.of_what()}, "
            f"{sampled.sizes_in_words()}; shares of them have a standard error of up to "
            f"{error:.0f} percentage points"
        )
    if sampled.method == "exact":
        sizes = "open" if sampled.sizes is None else "held fixed"
        return f"{len(sampled)} independent draws from the posterior, sizes {sizes}"
    report = sampled.diagnostics()
    worst, least = report.worst_r_hat, report.least_ess
    problems = "; ".join(report.problems)
    return (
        f"{len(sampled)} draws of Markov chains from the posterior; worst R-hat "
        f"{worst.r_hat:.3f} ({worst.name}), least effective sample size "
        f"{min(least.ess_bulk, least.ess_tail):.0f} ({least.name})"
        + (f". Caution: {problems}" if problems else "")
    )
