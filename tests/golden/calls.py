"""The calls whose values are kept: function x kind of data x options x seed.

A call returns numbers, texts and lists of them. What is drawn at random is not among them: draws
are compared with exact probabilities, in `test_golden.py`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import exp

import numpy as np

import tierwise as tw
from tests.golden.data import data
from tests.options import in_groups
from tierwise.fitting.neighbours import neighbour_agreement

# How much values may differ, relative to themselves.
EXACT = 1e-9
# EM ends when a step changes little: how far it still is from its limit depends on its rate.
BY_EM = 1e-4
# Several thetas are known up to where their steps end, and the standard error of one near its bound
# changes faster than the theta does.
BY_NEWTON = 1e-7


@dataclass(frozen=True)
class Call:
    """A call, what it may differ by, and whether it takes long."""

    run: Callable[[], object]
    bound: float = EXACT
    bound_of_thetas: float = EXACT
    slow: bool = False


CALLS: dict[str, Call] = {}


def _add(function, *facts, run, **options):
    name = " | ".join([function, *map(str, facts)])
    assert name not in CALLS, name
    CALLS[name] = Call(run, **options)


def of_fit(fit):
    """Return what is kept of a fit."""
    return {
        "tiers": str(fit.tiers),
        "thetas": list(fit.thetas),
        "theta errors": [one.standard_error for one in fit.theta_estimates],
        "theta intervals": [list(one.interval) for one in fit.theta_estimates],
        "concentration": fit.concentration,
        "log-likelihood": fit.log_likelihood,
        "log-likelihood error": fit.log_likelihood_error,
        "criterion": fit.criterion,
        "penalised criterion": fit.penalised_criterion,
        "total distance": fit.total_distance,
        "agreement": fit.agreement,
        "agreement by pair": fit.agreement_by_tier.by_pair.tolist(),
        "log completions": fit.log_completions,
        "optimal": fit.optimal,
        "number of optima": fit.n_optima,
        "references": [
            {
                "name": one.name,
                "thetas": [one.theta],
                "log-likelihood": one.log_likelihood,
                "criterion": one.criterion,
            }
            for one in fit.references
        ],
    }


def of_search(found):
    """Return what is kept of a search: the best, and the best few of the leaderboard."""
    return {
        "best": of_fit(found.best),
        "evaluated": found.evaluated,
        "leaderboard": [
            {
                "sizes": list(one.sizes),
                "tiers": str(one.tiers),
                "score": one.score,
                "criterion": one.criterion,
                "agreement": one.agreement,
                "thetas": [one.theta],
                "log evidence": one.log_evidence,
                "probability": one.probability,
            }
            for one in found.leaderboard[:6]
        ],
        "families": [
            {
                "distance": one.distance,
                "concentration": one.concentration,
                "tiers": str(one.tiers),
                "score": one.score,
            }
            for one in found.families
        ],
    }


def _fit(name, sizes, distance=None, *, bounds=None, slow=False, **options):
    shown = [f"{key}={value}" for key, value in options.items()]
    _add(
        "fit",
        name,
        sizes,
        distance,
        *shown,
        run=lambda: of_fit(tw.fit(data(name), sizes, distance, rng=1, **options)),
        slow=slow,
        **(bounds or {}),
    )


def _search(name, *distance, bounds=None, slow=False, **options):
    shown = [f"{key}={value}" for key, value in options.items()]
    grouped = in_groups(options, "priors")
    _add(
        "search",
        name,
        *distance,
        *shown,
        run=lambda: of_search(
            tw.search(data(name), *distance, family="mallows", progress="off", rng=1, **grouped)
        ),
        slow=slow,
        **(bounds or {}),
    )


DISTANCES = ("kendall", "inversions", "hamming", "footrule", "spearman")
EM = {"bound": BY_EM, "bound_of_thetas": 10 * BY_EM}
NEWTON = {"bound_of_thetas": BY_NEWTON}


def _list_fits():
    for distance in DISTANCES:
        for sizes in ((2, 2), (1, 3), (1, 1, 2), (1, 1, 1, 1), (4,)):
            _fit("goals", sizes, distance)
        for sizes in ((2, 3), (1, 2, 2)):
            _fit("apa", sizes, distance)
        for sizes in ((1, 2, 2, 2), (3, 4)):
            _fit("seven", sizes, distance)
        for name in ("unanimous", "noise"):
            _fit(name, (2, 1, 2), distance)
        _fit("weighted", (2, 2, 2), distance)
        _fit("nine", (3, 4, 2), distance)
        _fit("counts", (1, 2, 2, 2), distance)
        _fit("top", (1, 2, 4), distance, slow=distance in ("footrule", "spearman"), bounds=EM)
        _fit("tied", (2, 2, 2), distance, slow=distance in ("footrule", "spearman"), bounds=EM)
    for name in ("idea", "song"):
        for distance in ("kendall", "inversions"):
            _fit(name, (1, 1, 1, 1, 1), distance)
            _fit(name, (1, 2, 2), distance, level=0.9)
    for distance in ("kendall", "inversions", "hamming"):
        _fit("gaps", (1, 2, 3), distance, bounds=EM, slow=distance == "hamming")
        _fit("pairs", (1, 2, 2), distance, bounds=EM, slow=distance == "hamming")
    _fit("pairs", (1, 1, 1, 1, 1), "kendall", bounds=EM)
    _fit("top", (1, 1, 1, 1, 1, 1, 1), "kendall", bounds=EM)
    _fit("top of ten", (1, 2, 7), "kendall", bounds=EM)
    _fit("top of ten", (1, 2, 3, 4), "inversions", bounds=EM)
    _fit("f1", (3, 6, 16), "inversions", bounds=EM, slow=True)
    for sizes in ((3, 3, 2), (1, 1, 1, 1, 1, 1, 1, 1), (2, 6)):
        _fit("battles", sizes)
    for sizes in ((1, 2, 2), (2, 3)):
        _fit("few battles", sizes)
    for concentration in ("tier", "place", "auto"):
        for name, sizes in (
            ("goals", (2, 2)),
            ("apa", (1, 2, 2)),
            ("seven", (1, 2, 2, 2)),
            ("unanimous", (1, 2, 2)),
            ("nearly unanimous", (1, 1, 1, 1, 1)),
            ("nearly unanimous", (1, 3, 1)),
            ("idea", (1, 2, 1, 1)),
            ("song", (1, 1, 1, 1, 1)),
        ):
            slow = name == "seven" or concentration == "auto"
            _fit(name, sizes, "kendall", concentration=concentration, bounds=NEWTON, slow=slow)
    for name, sizes in (
        ("goals", (2, 2)),
        ("apa", (1, 2, 2)),
        ("seven", (1, 2, 2, 2)),
        ("counts", (1, 2, 2, 2)),
        ("nine", (3, 4, 2)),
        ("unanimous", (1, 2, 2)),
        ("nearly unanimous", (1, 1, 1, 1, 1)),
        ("tied", (2, 2, 2)),
        ("top", (1, 2, 4)),
        ("top of ten", (1, 2, 7)),
    ):
        _fit(name, sizes, "inversions", concentration="tier", bounds=NEWTON)
    _fit("apa", (1, 2, 2), "inversions", concentration="auto", bounds=NEWTON)
    for name, sizes in (("goals", (2, 2)), ("apa", (1, 2, 2)), ("seven", (3, 4))):
        _fit(name, sizes, "kendall", likelihood="pseudo")
    for method in ("assignment", "subsets"):
        _fit("seven", (2, 2, 3), "hamming", method=method)
    _fit("seven", (2, 2, 3), "kendall", method="milp")


def _list_searches():
    for name in ("goals", "apa", "song", "unanimous", "noise", "weighted"):
        _search(name)
        for criterion in ("likelihood", "evidence", "agreement", "both"):
            _search(name, "kendall", criterion=criterion)
        _search(name, "inversions", criterion="evidence")
    for distance in ("hamming", "footrule", "spearman"):
        for criterion in ("posterior", "likelihood", "evidence"):
            _search("goals", distance, criterion=criterion)
    for method in ("greedy", "tabu"):
        _search("seven", "kendall", method=method)
    for prior in ("uniform", "penalised", "sceptical"):
        _search("seven", "inversions", prior_sizes=prior)
        _search("goals", "kendall", criterion="evidence", prior_sizes=prior)
    for prior in (tw.Gamma(1, 1), tw.Gamma(3, 0.5)):
        _search("apa", "kendall", prior_theta=prior)
        _search("apa", "inversions", criterion="evidence", prior_theta=prior)
    _search("goals", "kendall", n_tiers=2)
    _search("seven", "inversions", top=(1,), bottom=(2,))
    for distance in ("kendall", "inversions"):
        _search("nine", distance)
        _search("nine", distance, criterion="evidence", slow=True)
        _search("counts", distance)
        _search("tied", distance, slow=distance == "kendall", bounds=EM)
        _search("top", distance, slow=distance == "kendall", bounds=EM)
    _search("top", "inversions", criterion="evidence", slow=True, bounds=EM)
    _search("top of ten", "inversions", bounds=EM, slow=True)
    _search("gaps", "inversions", bounds=EM, slow=True)
    _search("pairs", "kendall", bounds=EM, slow=True)
    _search("pairs", "inversions", bounds=EM, slow=True)
    for name in ("battles", "few battles"):
        _search(name)
        _search(name, criterion="likelihood")
    # The theta of thousands of battles is known up to where Newton's steps end.
    _search("llmfao", slow=True, bounds=NEWTON)
    _search("f1", "inversions", slow=True, bounds=EM)
    # Several thetas that are not independent are integrated out at 512 points around a mode, and
    # the mode is known to about 1e-9 of log theta.
    for concentration in ("tier", "auto"):
        for name in ("goals", "apa", "seven", "song", "unanimous", "nearly unanimous"):
            _search(name, "inversions", concentration=concentration, bounds=NEWTON)
        for name in ("goals", "apa", "seven"):
            _search(
                name,
                "kendall",
                concentration=concentration,
                bounds={**NEWTON, "bound": 1e-6},
                slow=name == "seven" or concentration == "tier",
            )
    _search("goals", "kendall", concentration="place", bounds={**NEWTON, "bound": 1e-6})
    _search("top", "inversions", concentration="tier", bounds=EM)
    _search("tied", "inversions", concentration="tier", bounds=EM)


def _list_models():
    for distance in DISTANCES:
        for sizes in ((2, 2), (1, 1, 1, 1), (1, 2, 3), (2, 5, 3)):
            _add("partition", sizes, distance, run=lambda s=sizes, d=distance: _partition(s, d))
        _add("model", (2, 1, 2), 0.6, distance, run=lambda d=distance: _model(0.6, d))
    for distance, concentration in (
        ("kendall", "tier"),
        ("kendall", "place"),
        ("inversions", "tier"),
    ):
        thetas = (0.9, 0.4, 0.2)[: 3 if (distance, concentration) == ("kendall", "tier") else 2]
        _add(
            "model",
            (2, 1, 2),
            thetas,
            distance,
            concentration,
            run=lambda t=thetas, d=distance, c=concentration: _model(t, d, c),
        )
    for name, sizes in (("goals", (2, 2)), ("seven", (1, 2, 2, 2)), ("top", (1, 2, 4))):
        _add(
            "neighbour_agreement", name, sizes, run=lambda n=name, s=sizes: _neighbours(n, s), **EM
        )


def _partition(sizes, distance):
    function = tw.partition_function(sizes, distance)
    return [
        [theta, float(moments.log_value), float(moments.mean), float(moments.variance)]
        for theta in (0.0, 1e-6, 0.3, 1.0, 4.0, 30.0)
        for moments in [function.moments(theta)]
    ]


def _model(theta, distance, *concentration):
    tiers = tw.Tiers([["b", "d"], ["a"], ["c", "e"]])
    model = tw.ClusteredMallows(tiers, theta, distance, *concentration)
    orderings = [list("abcde"), list("bdace"), list("ecadb"), list("dbeca")]
    complete = tw.Rankings.from_orderings(orderings)
    listed = tw.Rankings.from_orderings(
        [row[:2] for row in orderings], items="abcde", unranked="below"
    )
    pairs = model.pair_probabilities(draws=2)
    return {
        "log probabilities": model.log_prob(complete).tolist(),
        "of top lists": model.log_prob(listed).tolist() if isinstance(theta, float) else [],
        "tiers by place": model.rank_tier_probabilities(method="exact").probabilities.tolist(),
        "pairs": pairs.probabilities.tolist() if pairs.exact else [],
    }


def _neighbours(name, sizes):
    fit = tw.fit(data(name), sizes, "inversions", rng=1)
    return [[one.probability, list(one.interval), one.observed] for one in neighbour_agreement(fit)]


def _list_others():
    for name in ("goals", "seven", "top", "tied", "pairs", "battles"):
        _add("merge_even_pairs", name, run=lambda n=name: _merging(n))
    for name in ("goals", "weighted", "top", "pairs"):
        _add("describe", name, run=lambda n=name: _description(n))
    _add("compare_groups", "people", run=_groups)
    _add("group_tree", "people", run=_tree)
    for sizes in ((1, 2, 2), (1, 1, 1, 1, 1)):
        _add(
            "fit_mixture",
            "two groups",
            sizes,
            run=lambda s=sizes: _mixture("two groups", s),
            **EM,
        )
    _add("fit_mixture", "goals", (2, 2), run=lambda: _mixture("goals", (2, 2)), **EM)
    _add("fit_mixture", "two groups", run=lambda: _mixture("two groups", "search"), slow=True, **EM)
    for name, sizes, distance in (
        ("goals", (2, 2), "kendall"),
        ("seven", (1, 2, 2, 2), "kendall"),
        ("seven", (3, 4), "hamming"),
        ("seven", None, "inversions"),
        ("apa", None, "inversions"),
        ("tied", None, "inversions"),
        ("top", None, "inversions"),
        ("top", (1, 1, 1, 1, 1, 1, 1), "kendall"),
    ):
        _add(
            "sample_posterior",
            name,
            sizes,
            distance,
            run=lambda n=name, s=sizes, d=distance: _evidence(n, s, d),
        )
    for name in ("seven", "apa", "top", "song"):
        _add(
            "sample_posterior",
            name,
            "theta by tier",
            run=lambda n=name: _evidence(n, None, "inversions", concentration="tier"),
        )


def _merging(name):
    found = tw.merge_even_pairs(data(name))
    return {"sizes": list(found.sizes), "proportions": np.nan_to_num(found.proportions).tolist()}


def _description(name):
    return {
        key: value
        for key, value in tw.describe(data(name)).to_dict().items()
        if key in ("pairwise", "mean_ranks", "shares_won", "n_rankings", "concordance")
    }


def _groups():
    found = tw.compare_groups(data("people"), ["age", "coin"], family="mallows", rng=1)
    return {
        "everybody": found.everybody.log_evidence,
        "columns": [
            {
                "column": one.column,
                "groups": [
                    [group.name, str(group.tiers), group.theta, group.log_evidence]
                    for group in one.groups
                ],
                "own": float(one.log_evidence["own"]),
            }
            for one in found.columns
        ],
    }


def _tree():
    found = tw.group_tree(data("people"), ["age", "coin"], family="mallows", rng=1)
    return [
        [leaf.condition, str(leaf.group.tiers), leaf.group.theta, leaf.group.log_evidence]
        for leaf in found.leaves()
    ]


def _mixture(name, sizes):
    found = tw.fit_mixture(data(name), 2, sizes, rng=1, progress="off", distance="kendall")
    return {
        "log-likelihood": found.log_likelihood,
        "shares": found.shares.tolist(),
        "groups": [
            {"tiers": str(one.tiers), "thetas": [one.theta], "agreement": one.agreement}
            for one in found.groups
        ],
    }


def _evidence(name, sizes, distance, **options):
    found = tw.sample_posterior(
        data(name),
        sizes,
        distance,
        family="mallows",
        priors=tw.Priors(sizes="uniform"),
        chains=1,
        draws=4,
        progress="off",
        rng=1,
        **options,
    )
    return {"log evidence": found.log_evidence, "method": found.method}


def probabilities_of_sizes(name, distance):
    """Return the exact posterior probability of each size vector, with a uniform prior."""
    found = tw.search(data(name), distance, criterion="evidence", progress="off", rng=1)
    scores = np.array([one.log_evidence for one in found.leaderboard])
    shares = np.exp(scores - scores.max())
    shares /= shares.sum()
    return {
        " ".join(map(str, one.sizes)): float(share)
        for one, share in zip(found.leaderboard, shares, strict=True)
        if share > exp(-20)
    }


SAMPLED = (
    ("goals", "kendall"),
    ("noise", "kendall"),
    ("noise", "inversions"),
    ("song", "inversions"),
    ("weighted", "kendall"),
    ("weighted", "inversions"),
)


def _list_probabilities():
    for name, distance in SAMPLED:
        _add(
            "probabilities of sizes",
            name,
            distance,
            run=lambda n=name, d=distance: probabilities_of_sizes(n, d),
        )


_list_fits()
_list_searches()
_list_models()
_list_others()
_list_probabilities()
