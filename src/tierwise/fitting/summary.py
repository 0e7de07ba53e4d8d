"""The table that a fit prints."""

import textwrap
from math import isinf, isnan
from typing import TYPE_CHECKING

from tierwise._util.columns import aligned
from tierwise.data.connection import parts_in_words
from tierwise.data.weights import answers_in_words
from tierwise.errors import listed, percent

if TYPE_CHECKING:
    from tierwise.fitting.result import Fit, Reference

# An interval of the mistake probability wider than this says next to nothing.
WIDE = 0.2
# With half of them mistaken, answers say nothing.
AS_GOOD_AS_CHANCE = 0.49
NO_BREAK_SPACE = "\N{NO-BREAK SPACE}"


def summarise(fit: "Fit", width: int) -> str:
    """Write a fit as lines for people, none longer than a width."""
    kinds = {"exact": "", "independent": ", independent comparisons"}
    kind = kinds.get(fit.likelihood, f", {fit.likelihood} likelihood")
    model = "one worth per tier" if fit.family == "luce" else f"{fit.distance} distance"
    lines = [
        f"{who_said_what(fit)}, {model}{kind}",
        "",
        *_tier_lines(fit, width),
        "",
        *_wrapped("caution", parts_in_words(fit.parts), width),
        *(_worth_lines(fit, width) if fit.family == "luce" else _theta_lines(fit, width)),
        *_effect_lines(fit, width),
        *_mistake_lines(fit, width),
        *_wrapped("tiers", _optimality(fit), width),
        *_wrapped("agreement", _agreement(fit), width),
        "",
        *_comparison_lines(fit),
        "",
        *textwrap.wrap(fit.verdict(), width),
    ]
    return "\n".join(lines)


def who_said_what(fit: "Fit") -> str:
    """Return the number and the kind of answers in words."""
    about = f" of {len(fit.tiers.items)} items"
    return kind_of_answers(fit.n_rankings, fit.likelihood, about, pairwise=fit.pairwise)


def kind_of_answers(number: float, likelihood: str, about: str = "", *, pairwise: bool) -> str:
    """Return a number of battles, of people who compared pairs, or of rankings in words.

    Examples
    --------
    >>> kind_of_answers(200, "composite", pairwise=True), kind_of_answers(1, "exact", pairwise=True)
    ('200 battles', '1 assessor who compared pairs')
    """
    if likelihood in ("independent", "composite"):
        return answers_in_words(number, "battle", about)
    if pairwise:
        return f"{answers_in_words(number, 'assessor')} who compared pairs{about}"
    return answers_in_words(number, about=about)


def _tier_lines(fit: "Fit", width: int) -> list[str]:
    digits = len(str(len(fit.tiers)))
    lines = []
    for row in fit.tier_rows():
        if row.divided:
            lines += ["", "  people are divided about"]
        number = "" if row.number is None else str(row.number)
        # Names do not break within, only between.
        names = [str(item).replace(" ", NO_BREAK_SPACE) for item in row.items]
        text = f" ~{NO_BREAK_SPACE}".join(names)
        lines += textwrap.wrap(
            text,
            width,
            initial_indent=f"  {number:>{digits}}  ",
            subsequent_indent=" " * (digits + 4),
            break_long_words=False,
            break_on_hyphens=False,
        )
    return [line.replace(NO_BREAK_SPACE, " ") for line in lines]


def _wrapped(name: str, text: str, width: int) -> list[str]:
    return textwrap.wrap(
        text,
        width,
        initial_indent=f"{name:<11}",
        subsequent_indent=" " * 11,
        break_on_hyphens=False,
    )


def _theta_lines(fit: "Fit", width: int) -> list[str]:
    if fit.concentration == "single" or len(fit.tiers) == 1:
        return _wrapped("theta", _theta_line(fit), width)
    lines = _wrapped("theta", f"one per {fit.concentration}", width)
    names = names_of_parts(fit)
    longest = max(len(name) for name in names)
    for name, estimate in zip(names, fit.theta_estimates, strict=True):
        low, high = estimate.interval
        said = (
            f"{estimate.value:.4f}  ({percent(fit.level)} interval {low:.4f} to {high:.4f})"
            if not isinf(estimate.standard_error)
            else "undefined: no pair can contradict this tier"
        )
        lines += _wrapped("", f"{name:<{longest}}  {said}", width)
    if fit.divided:
        said = (
            f"people are divided about {listed(fit.divided)}: ranked anywhere, neither best "
            "nor worst"
        )
        lines += _wrapped("divided", said, width)
    if fit.concentration_reason:
        lines += _wrapped("chosen by", fit.concentration_reason, width)
    return lines


def _worth_lines(fit: "Fit", width: int) -> list[str]:
    if len(fit.tiers) == 1:
        return _wrapped("worths", "the same for all items", width)
    said = (
        f"strength on the Elo scale with {percent(fit.level)} interval, and how often an item "
        "is ranked before one of the next tier"
    )
    lines = _wrapped("worths", said, width)
    beats = [f"{share:.1%}" for share in fit.next_tier_probabilities]
    rows = [
        (
            f"tier {number}",
            f"{estimate.value:.3g}",
            f"{estimate.strength:+.0f}",
            "{:+.0f} to {:+.0f}".format(*estimate.strength_interval),
            share,
        )
        for number, (estimate, share) in enumerate(
            zip(fit.worth_estimates, [*beats, ""], strict=True), start=1
        )
    ]
    lines += [" " * 11 + line for line in aligned(rows)]
    return lines


def _effect_lines(fit: "Fit", width: int) -> list[str]:
    return [
        line
        for effect in fit.effect_estimates
        for line in _wrapped(effect.name, effect.sentence(), width)
    ]


def names_of_parts(fit: "Fit") -> tuple[str, ...]:
    """Return the name of each theta, with tiers named as in the list."""
    return names_of_tiers(fit)[: len(fit.thetas)] if fit.concentration == "tier" else fit.part_names


def names_of_tiers(fit: "Fit") -> tuple[str, ...]:
    """Name the tiers as they are shown: "tier 1", or the items that people are divided about."""
    number_of = {item: row.number for row in fit.tier_rows() for item in row.items}
    numbers = [number_of[tier[0]] for tier in fit.tiers]
    return tuple(
        listed(tier) if number is None else f"tier {number}"
        for number, tier in zip(numbers, fit.tiers, strict=True)
    )


def tiers_in_words(fit: "Fit") -> str:
    """Write the tiers in a line, what people are divided about apart.

    Examples
    --------
    >>> import tierwise as tw
    >>> tiers_in_words(tw.fit(tw.load_political_goals(), (2, 2)))
    'order ~ prices > say ~ speech'
    """
    rows = fit.tier_rows()
    text = " > ".join(" ~ ".join(map(str, row.items)) for row in rows if not row.divided)
    return f"{text}; people are divided about {listed(fit.divided)}" if fit.divided else text


def _theta_line(fit: "Fit") -> str:
    if len(fit.tiers) == 1:
        return "not defined: with one tier all orderings are equally probable"
    estimate, theta = fit.theta_estimate, fit.thetas[0]
    if isnan(fit.agreement):
        return "unknown: no answer orders two items of different tiers"
    if isinf(theta):
        return (
            f"infinite: {what_agrees(fit)} "
            f"(with {percent(fit.level)} confidence at least {estimate.interval[0]:.3g})"
        )
    low, high = estimate.interval
    how = "" if estimate.method == "exact" else ", Monte Carlo"
    settled = "" if estimate.converged else ", NOT CONVERGED: allow more rounds"
    return (
        f"{theta:.4f}  (standard error {estimate.standard_error:.4f}, "
        f"{percent(fit.level)} interval {low:.4f} to {high:.4f}{how}{settled})"
    )


def what_agrees(fit: "Fit") -> str:
    """Say what agrees with the tiers where theta is infinite."""
    if fit.mistake_probability is not None:
        return "all opinions agree with the tiers, and answers that do not are mistakes"
    return f"every {'answer' if fit.pairwise else 'ranking'} agrees with the tiers"


def _mistake_lines(fit: "Fit", width: int) -> list[str]:
    if fit.mistake_probability is None or fit.mistake_interval is None:
        return []
    return _wrapped("mistakes", mistakes_in_words(fit), width)


def mistakes_in_words(fit: "Fit") -> str:
    """Say how many answers are mistaken, and whether the answers show that."""
    if fit.mistake_probability is None or fit.mistake_interval is None:
        return ""
    low, high = fit.mistake_interval
    text = (
        f"{fit.mistake_probability:.1%} of the answers are mistaken "
        f"({percent(fit.level)} interval {low:.1%} to {high:.1%})"
    )
    if high - low > WIDE:
        return f"{text}; these answers hardly distinguish mistakes from differing opinions"
    if high > AS_GOOD_AS_CHANCE:
        return f"{text}; the answers look random"
    return text


def _optimality(fit: "Fit") -> str:
    if len(fit.tiers) == 1:
        return "a single tier with all items; nothing to choose"
    if fit.method == "given":
        return "as given, and proved best with these sizes" if fit.optimal else "as given"
    if not fit.optimal:
        how = f"found by {fit.method}, not proved best"
        return f"{how}; within {fit.gap:.1%} of the smallest distance" if fit.gap else how
    if fit.n_optima == 1:
        return f"proved to be the unique best with these sizes by {fit.method}"
    if fit.n_optima is None and not fit.alternatives:
        return f"proved best with these sizes by {fit.method}"
    number = "several" if fit.n_optima is None else str(fit.n_optima)
    return (
        f"proved best with these sizes by {fit.method}; {number} tier lists are equally good, "
        f"such as {fit.alternatives[0]}"
    )


def _agreement(fit: "Fit") -> str:
    if len(fit.tiers) == 1:
        return "not defined for one tier"
    if isnan(fit.agreement):
        return "not defined: no answer orders two items of different tiers"
    return f"{fit.agreement:.1%} of {what_is_ordered(fit)} in tier order"


def what_is_ordered(fit: "Fit") -> str:
    """Say what is, or is not, in tier order."""
    if fit.pairwise:
        return "answers about items of different tiers are"
    return "pairs from different tiers are ranked"


def _compared(fit: "Fit") -> list["Reference"]:
    best = fit.best_of_sizes
    return [*([] if best is None or best.tiers == fit.tiers else [best]), *fit.references]


def _comparison_lines(fit: "Fit") -> list[str]:
    if fit.family == "luce":
        compared = [("these tiers", fit.tiers, fit.log_likelihood, fit.log_posterior)]
        compared += [
            (other.name, other.tiers, other.log_likelihood, other.log_posterior)
            for other in _compared(fit)
        ]
        cells = [
            [name, str(len(tiers)), f"{log_likelihood:.2f}", f"{log_posterior:.2f}"]
            for name, tiers, log_likelihood, log_posterior in compared
        ]
        return aligned([["", "tiers", "log-likelihood", "log posterior"], *cells])
    theta = fit.theta_text() if fit.concentration == "single" else f"{len(fit.thetas)} thetas"
    rows = [("these tiers", fit.tiers, theta, fit.log_likelihood, fit.criterion)]
    rows += [
        (other.name, other.tiers, f"{other.theta:.4f}", other.log_likelihood, other.criterion)
        for other in _compared(fit)
    ]
    cells = [
        [name, str(len(tiers)), theta, f"{log_likelihood:.2f}", f"{criterion:.2f}"]
        for name, tiers, theta, log_likelihood, criterion in rows
    ]
    header = ["", "tiers", "theta", "log-likelihood", "criterion"]
    error = fit.log_likelihood_error
    note = (
        [f"log-likelihood and criterion are estimates, standard error {error:.2g}"] if error else []
    )
    if fit.concentration != "single":
        value = fit.penalised_criterion
        note.append(f"criterion of these tiers minus the penalty for further thetas: {value:.2f}")
    return [
        *aligned([header, *cells], least=(17, 5, 7, 15, 10)),
        *note,
    ]
