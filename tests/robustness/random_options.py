"""Which options public functions are called with at random."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import tierwise as tw
from tests import reference

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path


FAMILIES = ("mallows", "luce")
DISTANCES = tuple(reference.DISTANCES)
CONCENTRATIONS = ("single", "tier", "place", "auto")
METHODS_OF_CONSENSUS = ("auto", "assignment", "subsets", "milp", "annealing")
METHODS_OF_PARTITION = (
    *("auto", "closed", "lines", "rook"),
    *("recursion", "anchored", "path", "importance"),
)
PRIORS = (tw.Gamma(2, 2), tw.Gamma(1, 0.1), tw.Gamma(0.5, 10.0))
# Work is not spread over processes here, and nobody watches.
FIXED = {"workers": 1, "progress": "off"}


@dataclass(frozen=True)
class Drawn:
    """What a call is made with: data, and a generator for all that is drawn."""

    rng: np.random.Generator
    data: Any
    folder: Path

    def sizes(self) -> tuple[int, ...]:
        """Sizes of tiers, now and then of one item too many."""
        n_items = len(getattr(self.data, "items", "abc"))
        cuts = np.flatnonzero(self.rng.random(n_items - 1) < self.rng.choice([0.0, 0.4, 1.0])) + 1
        sizes = np.diff([0, *cuts, n_items]).tolist()
        sizes[-1] += self.rng.random() < 0.02
        return tuple(sizes)

    def one_of(self, values: Any) -> Any:
        """Draw a value; a function is asked for one."""
        value = values[int(self.rng.integers(len(values)))]
        return value(self) if callable(value) and not isinstance(value, type) else value

    def options(self, known: Mapping[str, Any], share: float = 0.2) -> dict[str, Any]:
        """Draw values for some of the options; those that are lists of one are always given."""
        return {
            name: self.one_of(values)
            for name, values in known.items()
            if len(values) == 1 or self.rng.random() < share
        }

    def path(self, suffix: str) -> Path:
        return self.folder / f"result.{suffix}"


def sizes(drawn: Drawn) -> tuple[int, ...]:
    return drawn.sizes()


def seed(drawn: Drawn) -> Any:
    number = int(drawn.rng.integers(100))
    return drawn.one_of((number, np.random.SeedSequence(number)))


def columns(drawn: Drawn) -> Any:
    return drawn.one_of(("age", "town", "share", ("age", "town"), "no such column"))


def path_of_page(drawn: Drawn) -> Path:
    return drawn.path("html")


def sizes_of_mixture(drawn: Drawn) -> Any:
    return drawn.one_of(("search", sizes, "strict"))


def prior_of_sizes(drawn: Drawn) -> Any:
    one = drawn.sizes()
    return drawn.one_of(("uniform", "penalised", "sceptical", {one: 1.0, tuple(one[::-1]): 0.5}))


def some_priors(drawn: Drawn) -> tw.Priors:
    known = {
        "theta": PRIORS,
        "sizes": (prior_of_sizes, None),
        "mistakes": (tw.Beta(1, 3), tw.Beta(0.5, 100.0)),
        "shares": (0.1, 1.0, 10.0),
    }
    return tw.Priors(**drawn.options(known, 0.4))


def some_sampler(drawn: Drawn) -> tw.Sampler:
    known = {
        "warmup": (0, 20),
        "thin": (1, 3),
        "method": ("auto", "exact", "mcmc"),
        "theta_update": (
            *("auto", "exact", "integrated", "exchange"),
            tw.Exchange(auxiliary="mcmc", steps=5),
        ),
        "likelihood": ("exact", "exact", "pseudo"),
        "completions": ("auto", "reinsert", "refill"),
    }
    return tw.Sampler(**drawn.options(known))


def some_warmup(drawn: Drawn) -> tw.Sampler:
    return tw.Sampler(warmup=drawn.one_of((0, 10)))


def some_fit(drawn: Drawn) -> tw.Fit:
    """A fit with most options as they are."""
    return tw.fit(drawn.data, **drawn.options(OPTIONS["fit"], 0.15))


def some_posterior(drawn: Drawn) -> tw.Posterior:
    known = OPTIONS["sample_posterior"] | {"checkpoint": (None,), "draws": (20,), "chains": (1,)}
    return tw.sample_posterior(drawn.data, **FIXED, **drawn.options(known, 0.15))


def some_choice(drawn: Drawn) -> Any:
    return tw.choose(drawn.data, **FIXED, **drawn.options(OPTIONS["choose"], 0.1))


def some_tiers(drawn: Drawn) -> tw.Tiers:
    return tw.Tiers.from_sizes(drawn.sizes(), drawn.data.items)


def some_model(drawn: Drawn) -> Any:
    kind = drawn.one_of(("fit", "posterior", "model"))
    if kind == "fit":
        return some_fit(drawn)
    if kind == "posterior":
        return some_posterior(drawn)
    theta = float(drawn.one_of((0.0, 0.7, 50.0)))
    return tw.ClusteredMallows(some_tiers(drawn), theta, drawn.one_of(DISTANCES))


# A new option, such as a family of models, is a line here; a test compares this with signatures.
OPTIONS: dict[str, dict[str, Any]] = {
    "fit": {
        "sizes": (sizes,),
        "tiers": (None, None, some_tiers),
        "family": FAMILIES,
        "distance": DISTANCES,
        "method": METHODS_OF_CONSENSUS,
        "theta_method": ("exact", "monte-carlo"),
        "partition_method": METHODS_OF_PARTITION,
        "likelihood": ("exact", "exact", "pseudo"),
        "concentration": CONCENTRATIONS,
        "time_limit": (1.0, 0.01),
        "level": (0.5, 0.95, 0.999999),
        "rng": (seed,),
    },
    "search": {
        "distance": ("auto", *DISTANCES),
        "family": ("auto", *FAMILIES),
        "max_tiers": (1, 2, 3),
        "margin": (0.5, 0.52, 0.9),
        "concentration": CONCENTRATIONS,
        "criterion": ("posterior", "likelihood", "evidence", "agreement", "both"),
        "method": (
            *("auto", "exhaustive", "greedy", "tabu", "genetic"),
            tw.Greedy(moves="adjacent"),
            tw.Genetic(population=6, patience=2),
            tw.Tabu(patience=2),
        ),
        "n_tiers": (1, 2, 3),
        "top": ((1,), (1, 1), (2,)),
        "bottom": ((1,), (2,)),
        "shortlist": (0.1, 0.5, 1.0),
        "priors": (some_priors,) * 2,
        "seconds": (None, 0.01, 60.0),
        "rng": (seed,),
    },
    "sample_posterior": {
        "sizes": (sizes, None),
        "tiers": (None, None, some_tiers),
        "family": FAMILIES,
        "distance": DISTANCES,
        "concentration": ("single", "tier"),
        "chains": (lambda drawn: drawn.one_of((1, 2)),),
        "draws": (lambda drawn: drawn.one_of((1, 2, 50)),),
        "sampler": (some_sampler,),
        "priors": (some_priors,) * 2,
        "choice": (None, some_choice),
        "checkpoint": (lambda drawn: drawn.folder / "checkpoint",) * 2,
        "rng": (seed,),
    },
    "choose": {
        "priors": (some_priors,) * 2,
        "family": ("auto", *FAMILIES),
        "distance": ("auto", *DISTANCES),
        "concentration": CONCENTRATIONS,
        "max_tiers": (1, 2, 3),
        "margin": (0.5, 0.52, 0.9),
        "seconds": (None, 0.01, 60.0),
        "rng": (seed,),
    },
    "leaderboard": {
        "family": ("auto", *FAMILIES),
        "distance": ("auto", "inversions", "kendall"),
        "choice": (None, some_choice),
        "tiers": ("best", "leader", "sure"),
        "max_tiers": (1, 2, 3),
        "margin": (0.5, 0.52),
        "level": (0.5, 0.95),
        "certainty": (0.5, 0.99),
        "k": (1, 7, (1, 2, 3)),
        "uncertainty": ("posterior", "bootstrap"),
        "concentration": CONCENTRATIONS,
        "priors": (some_priors,) * 2,
        "chains": (lambda drawn: drawn.one_of((1, 2)),),
        "draws": (lambda drawn: drawn.one_of((2, 50)),),
        "replicates": (lambda drawn: drawn.one_of((1, 8)),),
        "seconds": (None, 0.01, 60.0),
        "rng": (seed,),
    },
    "bootstrap": {
        "replicates": (lambda drawn: drawn.one_of((1, 2, 8)),),
        "kind": ("nonparametric", "parametric"),
        "cluster": (columns,) * 2,
        "unit": ("auto", "battle", "judge"),
        "rng": (seed,),
    },
    "check_fit": {
        "posterior": (some_posterior,) * 2,
        "draws": (lambda drawn: drawn.one_of((100, 2000)),),
        "rng": (seed,),
    },
    "impute": {"draws": (lambda drawn: drawn.one_of((2, 100)),), "rng": (seed,)},
    "fit_mixture": {
        "family": FAMILIES,
        "n_groups": (lambda drawn: drawn.one_of((1, 2, 3, (1, 2))),),
        "sizes": (sizes_of_mixture, "search"),
        "distance": DISTANCES,
        "noise": ("none", "uniform"),
        "criterion": ("bic", "icl", "held-out"),
        "starts": (lambda drawn: drawn.one_of((1, 2)),),
        "folds": (2, 3, None),
        "tolerance": (1e-4, 0.1),
        "most_steps": (lambda drawn: drawn.one_of((2, 30)),),
        "choice": (None, some_choice),
        "rng": (seed,),
    },
    "sample_mixture": {
        "family": FAMILIES,
        "n_groups": (lambda drawn: drawn.one_of((1, 2, 3)),),
        "sizes": (sizes_of_mixture, "search"),
        "distance": DISTANCES,
        "noise": ("none", "uniform"),
        "chains": (lambda drawn: drawn.one_of((1, 2)),),
        "draws": (lambda drawn: drawn.one_of((1, 20)),),
        "sampler": (some_warmup,),
        "priors": (some_priors,) * 2,
        "starts": (lambda drawn: drawn.one_of((1, 2)),),
        "rng": (seed,),
    },
    "compare_groups": {
        "by": (columns,),
        "family": ("auto", *FAMILIES),
        "choice": (None, some_choice),
        "rng": (seed,),
    },
    "group_tree": {
        "family": ("auto", *FAMILIES),
        "choice": (None, some_choice),
        "by": (columns,),
        "smallest": (1, 2, 5),
        "permutations": (lambda drawn: drawn.one_of((1, 9)),),
        "rng": (seed,),
    },
    "report": {
        "path": (path_of_page,),
        "family": ("auto", *FAMILIES),
        "sizes": (sizes, None),
        "distance": ("auto", *DISTANCES),
        "concentration": CONCENTRATIONS,
        "uncertainty": ("bootstrap", "posterior"),
        "replicates": (lambda drawn: drawn.one_of((2, 5)),),
        "groups": (2, (2, 3)),
        "by": (columns,) * 2,
        "cluster": (columns,) * 2,
        "title": ("", "<script>", "a title"),
        "rng": (seed,),
    },
    "next_questions": {
        "k": (1, 3, 1000),
        "ask": ("pairs", "subsets"),
        "size": (None, 2, 3),
        "costs": (None, {}),
        "exclude": ((),),
        "choice": (None, some_choice),
        "posterior": (None,),
        "rng": (seed,),
    },
    "enough": {
        "settle": ("differences", "tiers"),
        "certainty": (0.5, 0.95),
        "choice": (None, some_choice),
        "futures": (0, 1),
        "streams": (0, 1),
        "rng": (seed,),
    },
    "describe": {},
    "agreement": {"tiers": (some_tiers,)},
    "merge_even_pairs": {"tolerance": (0.0, 0.1, 0.5, None)},
    "log_partition": {
        "sizes": (sizes,),
        "theta": (lambda drawn: drawn.one_of((0.0, 0.5, 3.0, 1e-9, 800.0, np.inf)),),
        "distance": DISTANCES,
        "method": METHODS_OF_PARTITION,
        "budget": (1.0, 1e6),
        "draws": (lambda drawn: drawn.one_of((2, 200)),),
        "rng": (seed,),
    },
    "partition_function": {
        "sizes": (sizes,),
        "distance": DISTANCES,
        "concentration": ("single", "tier", "place"),
        "method": METHODS_OF_PARTITION,
        "budget": (1.0, 1e6),
        "draws": (lambda drawn: drawn.one_of((2, 200)),),
        "rng": (seed,),
    },
    "write_rankings": {
        "path": (lambda drawn: drawn.path(drawn.one_of(("csv", "parquet", "toi", "soc"))),),
        "format": ("auto", "csv", "parquet", "preflib"),
        "layout": ("orderings", "ranks", "long"),
    },
}
# Readers and loaders are fuzzed elsewhere, and used here on what was written; the rest has no data.
NOT_DRAWN = {
    *("read_rankings", "read_preferences", "read_battles", "read_scores", "read_best_worst"),
    *("compare", "plan", "sample_best_worst"),
    *("load_apa1980", "load_f1", "load_llmfao", "load_political_goals", "load_sushi"),
    *("load_word_association", "compositions", "get_distance", "parallel", "read", "cite"),
}
# How often a function is drawn: those with many options more often.
SHARES = {
    "fit": 5,
    "search": 5,
    "sample_posterior": 6,
    "leaderboard": 4,
    "choose": 2,
    "bootstrap": 2,
    "report": 2,
}
# The data that a function is for; all kinds where it is not named. Others are passed now and then.
FOR_RANKINGS = (
    *("compare_groups", "group_tree", "fit_mixture", "sample_mixture", "impute"),
    "write_rankings",
)
FOR_PEOPLE = ("compare_groups", "group_tree")
WITHOUT_DATA = ("log_partition", "partition_function")
# What is passed after the data, by position.
SECOND: dict[str, Callable[[Drawn], Any]] = {
    "bootstrap": some_fit,
    "check_fit": some_fit,
    "impute": some_model,
}
