"""What the studies show together, in plain words: each finding with the code that shows it."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean, median, stdev
from typing import TYPE_CHECKING

from studies import (
    formula_one_paper,
    simulation_1,
    simulation_2,
    sushi_paper,
)
from studies.formula_one_text import MEANING
from studies.sushi_selection_text import chance_of_missing
from studies.writing import duration, paragraphs, percent, sizes_text
from tierwise.tiers import adjacent_shifts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from studies.harness import Outcome, Results

_SUSHI = """\
import os
import tierwise as tw
sushi = tw.load_sushi(os.environ["TIERWISE_DATA"] + "/sushi", region="Tohoku")
"""


@dataclass(frozen=True)
class Finding:
    """Something that the results of a study show.

    Attributes
    ----------
    title
        In one sentence.
    study
        The study whose results it comes from.
    text
        From results to paragraphs.
    code
        A short program that shows the heart of it.
    data
        Name of the data set that the code needs, if any.
    """

    title: str
    study: str
    text: Callable[[Results], str]
    code: str
    data: str | None = None


def findings(outcomes: Mapping[str, Outcome]) -> str:
    """Tell all findings whose studies were run."""
    told = [
        paragraphs(
            f"### {finding.title}",
            finding.text(outcomes[finding.study].results),
            f"Shown in full by `python -m studies {finding.study}`, in short by",
            f"```python\n{finding.code}```",
        )
        for finding in FINDINGS
        if finding.study in outcomes
    ]
    return paragraphs(*told, _READINGS)


def _misprint(results: Results) -> str:
    meant, printed = results["meant"], results["printed"]
    return (
        f"Text and table say {sizes_text(sushi_paper.START)}. The tiers, the rank-"
        f"cluster probabilities and the criterion that the paper gives are those of "
        f"{sizes_text(sushi_paper.MEANT)}, whose exact criterion is {meant['criterion']:.2f} "
        f"(paper {sushi_paper.CRITERION:.2f}); the printed sizes have "
        f"{printed['criterion']:.2f}."
    )


def _strict(results: Results) -> str:
    strict, meant = results["strict"], results["meant"]
    best = results["kendall_all"]["leaderboard"][0]
    implied = sushi_paper.STRICT_CRITERION + results["penalty_strict"]
    return (
        f"The paper gives {sushi_paper.STRICT_CRITERION:.2f} for the strict model. That is a log-"
        f"likelihood of {implied:.2f}, below the uniform distribution's "
        f"{results['uniform']:.2f}, which cannot be: the uniform distribution is the strict model "
        f"with theta 0. By the closed form the strict criterion is {strict['criterion']:.2f}. This "
        "changes a conclusion: the tiers that the paper selects "
        f"({meant['criterion']:.2f}) are not preferred to the strict consensus, neither by the "
        f"criterion nor by the likelihood ({meant['log_likelihood']:.2f} and "
        f"{strict['log_likelihood']:.2f}). Other tiers are: {sizes_text(best['sizes'])} has "
        f"{best['criterion']:.2f}."
    )


def _search(results: Results) -> str:
    noisy = results["kendall_noisy"]
    best = results["kendall_all"]["leaderboard"][0]
    greedy = results["kendall_likelihood_by_size"]["best"]
    better = results["neighbours_of_meant"][0]
    missed = better["criterion"] - results["meant"]["criterion"]
    gaps = [best["criterion"] - exact for exact in noisy["exact"]]
    hamming = results["hamming_noisy"]
    best_hamming = results["hamming_all"]["leaderboard"][0]["criterion"]
    gaps_hamming = [best_hamming - exact for exact in hamming["exact"]]
    return (
        f"Of all 512 size vectors the best is {sizes_text(best['sizes'])} with "
        f"{best['criterion']:.2f}; the paper's selected sizes are "
        f"{best['criterion'] - results['meant']['criterion']:.1f} behind. The paper's greedy "
        f"search stopped there although {sizes_text(better['sizes'])}, a neighbour, is "
        f"{missed:.2f} better; estimates with the standard deviation it reports, "
        f"{sushi_paper.CRITERION_SD:.2f}, would miss that in {percent(chance_of_missing(missed))} "
        f"of the cases. With exact numbers the same search ends at {sizes_text(greedy['sizes'])}, "
        f"{best['criterion'] - greedy['criterion']:.2f} behind the best; with the paper's methods, "
        f"run {len(gaps)} times here, it ends {median(gaps):.1f} behind in the median (from "
        f"{min(gaps):.1f} to {max(gaps):.1f}) and takes {duration(noisy['seconds'])}. Comparing "
        f"all sizes exactly takes {duration(results['kendall_all']['seconds'])}. With Hamming the "
        f"estimates are worse, and the runs end at "
        f"{len({tuple(end) for end in hamming['ends']})} different sizes, {min(gaps_hamming):.1f} "
        f"to {max(gaps_hamming):.1f} behind the best."
    )


def _noise(results: Results) -> str:
    first, best, second = (results["models"][number] for number in (0, 3, 4))
    return (
        f"With as many draws as the paper's ({sushi_paper.DRAWS:,}), the criterion of its selected "
        f"sizes has a standard deviation of {stdev(first['replicates']):.2f} here, and those of "
        f"the best and second best sizes of all, which are {best['exact'] - second['exact']:.2f} "
        f"apart, have {stdev(best['replicates']):.2f} and {stdev(second['replicates']):.2f}. (The "
        f"paper reports {sushi_paper.CRITERION_SD:.2f} for the first; its mean, "
        f"{sushi_paper.CRITERION:.2f}, agrees with the exact {first['exact']:.2f}.) The error of "
        "log Psi is multiplied by the number of rankings, so more data make it worse."
    )


def _degenerate(results: Results) -> str:
    degenerate = results["kendall_all"]["by_agreement"]
    ends = {
        sizes_text(results[f"{distance}_agreement_{start}"]["best"]["sizes"])
        for distance in sushi_paper.DISTANCES
        for start in ("by_size", "by_preference")
    }
    selected = " and ".join(
        f"{sizes} ({results[f'{distance}_all']['of_paper'][sizes]['agreement']:.4f}, "
        f"{distance.title()})"
        for distance in sushi_paper.DISTANCES
        for sizes in [sizes_text(sushi_paper.SELECTED[f"{distance}_agreement"])]
    )
    return (
        f"Of all 512 size vectors, D is highest for {sizes_text(degenerate[0]['sizes'])} "
        f"({degenerate[0]['agreement']:.4f}): everything against what nearly everybody dislikes. "
        "Fewer, more lopsided comparisons are easier to get right. A greedy search for D, from "
        f"either start and with either distance, ends at {' or '.join(sorted(ends))}. The sizes "
        f"that the paper reports, {selected}, are not on its way. D is good for describing tiers "
        "and for narrowing a search."
    )


def _formula_one(results: Results) -> str:
    readings = [reading for reading in MEANING if reading in results]
    differences = ", ".join(
        f"{results[reading]['strict']['criterion'] - results[reading]['tiers']['criterion']:.1f} "
        f"if not listed means {MEANING[reading]}"
        for reading in readings
    )
    implied = formula_one_paper.CRITERION["strict"] + results["penalty_strict"]
    best = ", ".join(
        f"{results[reading]['tiers_reinsert']['best_criterion']:.1f} ({reading})"
        for reading in readings
    )
    return (
        f"The paper's criterion of the strict model, {formula_one_paper.CRITERION['strict']:.1f}, "
        f"is a log-likelihood of {implied:.1f}, below the uniform distribution's "
        f"{results['uniform']:.1f}. Computed exactly, the strict consensus has the higher "
        f"criterion: by {differences}. The paper's {formula_one_paper.CRITERION['tiers']:.2f} for "
        f"the tiers was not reached by its chain under either reading; the best seen was {best}. "
        "The tiers themselves are nearly the paper's."
    )


def _first_study(results: Results) -> str:
    return (
        f"Exactly computed, the true sizes are the best of all 64 in "
        f"{percent(simulation_1.share_found(results, 'all'))} of the data sets, as the paper says; "
        f"by the paper's methods in {percent(simulation_1.share_found(results, 'paper'))}. The "
        f"estimated criterion has an error of {median(results['error']):.1f}, and the second best "
        f"sizes are {median(results['gap']):.1f} behind in the median and "
        f"{min(results['gap']):.1f} at the least, so that a wrong choice is rare. A search takes "
        f"{duration(results['seconds']['paper'])} by the paper's methods and "
        f"{duration(results['seconds']['all'])} for all sizes, exactly."
    )


def _second_study(results: Results) -> str:
    thetas = results["exact_kendall"]["theta"]
    right, wrong = (
        percent(simulation_2.recovered(results, "exact", distance))
        for distance in simulation_2.DISTANCES
    )
    return (
        f"The tiers are recovered in {right} of the data sets with Kendall and {wrong} with "
        f"Hamming, which is the wrong distance here; theta is {fmean(thetas):.3f} on average (sd "
        f"{stdev(thetas):.3f}); the true distance is preferred in "
        f"{percent(simulation_2.preferred(results, 'exact'))}. About "
        f"{percent(simulation_2.PAPER_RECOVERED)} with either distance, as in the paper, is what "
        "the wrong distance gives; the right one does better when its tiers are found exactly."
    )


def _theta(results: Results) -> str:
    kendall, hamming = results["iterations"]["kendall"], results["iterations"]["hamming"]
    return (
        "The paper multiplies theta by simulated over observed mean distance until it settles. It "
        "settles only where theta Var(d)/E(d) is below 2. In its third study the error is "
        f"multiplied by {hamming['slope']:.2f} a round for Hamming, which is fine, and by "
        f"{kendall['slope']:.2f} for Kendall, where theta jumps away until it is stuck at 0. The "
        "likelihood equation has one root and its left side is monotone: Newton steps within a "
        "bracket always find it."
    )


FINDINGS = [
    Finding(
        "The sizes selected for the sushi data are misprinted",
        "sushi-selection",
        _misprint,
        _SUSHI
        + "for sizes in [(1, 1, 1, 2, 3, 2), (1, 1, 1, 2, 2, 3)]:\n"
        + "    print(tw.fit(sushi, sizes))\n",
        "sushi",
    ),
    Finding(
        "The strict model of the sushi data is far better than the paper says",
        "sushi-selection",
        _strict,
        _SUSHI + "print(tw.fit(sushi, (1, 1, 1, 2, 3, 2)).summary())\n",
        "sushi",
    ),
    Finding(
        "The greedy search stops short of the best sizes",
        "sushi-selection",
        _search,
        _SUSHI + "print(tw.search(sushi).summary())\n",
        "sushi",
    ),
    Finding(
        "The estimated criterion is too noisy to compare the best sizes with",
        "sushi-replicates",
        _noise,
        "import tierwise as tw\n"
        "sizes, theta, people = (1, 1, 1, 2, 3, 2), 0.2686, 280\n"
        "print(people * tw.log_partition(sizes, theta))\n"
        "for seed in range(5):\n"
        '    noisy = tw.log_partition(sizes, theta, method="importance", rng=seed)\n'
        "    print(people * noisy, people * noisy.standard_error)\n",
    ),
    Finding(
        "The data criterion D prefers degenerate tiers",
        "sushi-selection",
        _degenerate,
        _SUSHI + 'print(tw.search(sushi, criterion="agreement").best)\n',
        "sushi",
    ),
    Finding(
        "Formula 1: the strict model is preferred to the points tiers, not the other way round",
        "formula-one",
        _formula_one,
        "import tierwise as tw\n"
        "races = tw.load_f1()\n"
        "print(tw.fit(races, (1, 1, 1, 2, 3, 2, 15)).summary())\n",
    ),
    Finding(
        "Study 1 reproduces",
        "simulation-1",
        _first_study,
        "import tierwise as tw\n"
        "tiers = tw.Tiers([[1], [2], [3, 4, 5], [6], [7]])\n"
        'rankings = tw.ClusteredMallows(tiers, 0.9, "hamming").sample(500, rng=1)\n'
        'print(tw.search(rankings, "hamming").summary())\n',
    ),
    Finding(
        "Study 2 reproduces",
        "simulation-2",
        _second_study,
        "import tierwise as tw\n"
        "tiers = tw.Tiers([[1], [2, 3], [4, 5, 6, 7], [8, 9], [10]])\n"
        "rankings = tw.ClusteredMallows(tiers, 0.4).sample(200, rng=1)\n"
        'for distance in ("kendall", "hamming"):\n'
        "    print(tw.fit(rankings, (1, 2, 4, 2, 1), distance))\n",
    ),
    Finding(
        "The iteration for theta does not always converge",
        "simulation-3",
        _theta,
        "import tierwise as tw\n"
        'for distance in ("hamming", "kendall"):\n'
        "    psi = tw.partition_function((3, 3, 3, 3, 3), distance)\n"
        "    print(distance, 1 - 1.5 * psi.variance(1.5) / psi.mean(1.5))\n",
    ),
]

_NEIGHBOURS = ", ".join(sizes_text(sizes) for sizes in adjacent_shifts((1, 3, 3, 3)))
_READINGS = f"""
### Formulas that must be read with care

- The sampler (Algorithm 1) accepts by `exp(-d)`; it must be `exp(-theta d)`, or theta has no
  effect. `python -c "import tierwise as tw; m = tw.ClusteredMallows(tw.Tiers([[1, 2], [3, 4]]),
  0.5); print(m.mean_distance(), m.distances(m.sample(10000, 1, method='mcmc')).mean())"`
- The pseudo-likelihood: only tiers with items left have a term in the normaliser, and an item is
  drawn with probability one over the items left in its tier, not over all items left.
  `python -m studies pseudo-likelihood`
- The update of theta: the text says observed over simulated mean distance, the algorithm simulated
  over observed. The algorithm is right: too small a theta makes the simulated distance too large.
- BIC: `-2 f` should be `-2 log f`.
- The neighbours of (1,3,3,3): the list has (2,3,3,3), which has eleven items. The neighbours are
  {_NEIGHBOURS}. `python -c "from tierwise.tiers import
  adjacent_shifts; print(adjacent_shifts((1, 3, 3, 3)))"`
- The figure of rank-cluster probabilities is captioned z = (1,1,2,2,3); it is (1,1,2,2,3,3).
"""
