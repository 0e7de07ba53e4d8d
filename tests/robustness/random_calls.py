"""Public functions, called at random: each call gives a result that can be used, or a refusal.

A number names a call: which function, which data, which options. What comes back is used as people
do: printed, turned into strict JSON and frames, pickled, saved and loaded, drawn. Whatever is not a
`TierwiseError` is a fault. So is a warning that is not a `TierwiseWarning`, a method of a result
that refuses, or a call that takes too long.

Some calls are part of the tests. A long run, with a child process that may crash or hang::

    python -m tests.robustness.random_calls --calls 5000
    python -m tests.robustness.random_calls --only 1234  # the call of that number, with traceback
"""

from __future__ import annotations

import argparse
import collections
import inspect
import json
import multiprocessing
import os
import pickle
import signal
import sys
import tempfile
import time
import traceback
import warnings
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np

import tierwise as tw
from tests.robustness import random_data
from tierwise import plots

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

# Of the processor, not of the clock: machines may be busy. Time to compile is most of it.
SECONDS = 120.0
# A kernel cannot be interrupted: a child that is silent for so much longer is ended.
PATIENCE = 5.0

FAMILIES = ("mallows", "luce")
DISTANCES = ("kendall", "inversions", "hamming", "footrule", "spearman")
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


@dataclass(frozen=True)
class Outcome:
    """What became of a call.

    Attributes
    ----------
    number
        Names the call.
    kind
        "result", "refusal", "exception", "warning", "hang" or "crash"; "unusable" where there was a
        result, and one of its own methods refused.
    what
        The call in words.
    message
        What was raised, if anything.
    where
        Where in the package, innermost last.
    """

    number: int
    kind: str
    what: str
    message: str = ""
    where: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def is_fault(self) -> bool:
        return self.kind not in ("result", "refusal")

    def __str__(self) -> str:
        head = f"{self.number}: {self.kind}: {self.what}"
        return "\n    ".join([head, self.message, " < ".join(self.where)])


class TooLong(BaseException):
    """A call takes too long; no `except Exception` of the package hides it."""


# Figures say where there is nothing to show, and files and frames which names they cannot hold;
# what a model cannot tell of some data, or of so many thetas, it says, too.
MAY_REFUSE = (
    *("read", "save", "to_frame", "figure", "distribution", "distances", "log_prob"),
    *("rank_tier_bands", "theta_interval", "mean_distance", "var_distance", "log_partition"),
    *("rank_tier_probabilities", "place_probabilities"),
)


@dataclass
class Words:
    """What a call is, in words that grow as it is drawn."""

    said: list[str] = field(default_factory=list)

    def __call__(self, *more: str) -> None:
        self.said += more

    def __str__(self) -> str:
        return " ".join(self.said)


def call(number: int, *, seconds: float = SECONDS, reraise: str = "no") -> Outcome:
    """Make the call of a number, use its result, and say what became of it."""
    mpl.use("agg")
    words, started = Words(), time.perf_counter()

    def outcome(kind: str, error: BaseException | None = None) -> Outcome:
        message = "" if error is None else f"{type(error).__name__}: {error}"
        where = () if error is None else _where(error)
        return Outcome(number, kind, str(words), message, where, time.perf_counter() - started)

    try:
        with (
            _time_limit(seconds),
            warnings.catch_warnings(),
            tempfile.TemporaryDirectory() as folder,
        ):
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", tw.TierwiseWarning)
            # Fonts are the machine's.
            warnings.filterwarnings("ignore", "Glyph .* missing from font")
            os.environ["TIERWISE_RANDOM_CALLS"] = folder
            _make_call(np.random.default_rng([26, number]), Path(folder), words)
    except tw.TierwiseError as error:
        used = str(words).partition("; used:")[2].split()
        return outcome("unusable" if used and used[-1] not in MAY_REFUSE else "refusal", error)
    except TooLong as error:
        return outcome("hang", error)
    except Exception as error:
        if reraise == "yes":
            raise
        return outcome("warning" if isinstance(error, Warning) else "exception", error)
    finally:
        _close_figures()
    return outcome("result")


def _make_call(rng: np.random.Generator, folder: Path, words: Words) -> None:
    shares = np.array([SHARES.get(name, 1) for name in OPTIONS], dtype=float)
    name = str(rng.choice(list(OPTIONS), p=shares / shares.sum()))
    known = random_data.RANKINGS if name in FOR_RANKINGS else random_data.KINDS
    kind = str(rng.choice(list(known)))
    if rng.random() < 0.02:
        kind = str(rng.choice(list(random_data.KINDS)))
    elif name in FOR_PEOPLE:
        kind = "known_people"
    words.said.append(f"{name} of {kind}:")
    data = random_data.KINDS[kind](rng)
    words.said.append(repr(data))
    drawn = Drawn(rng, data, folder)
    options = drawn.options(OPTIONS[name])
    if name == "fit" and options.get("tiers") is not None:
        options["sizes"] = None
    words.said.append(f"{ {key: value for key, value in options.items() if value is not data} }")
    given = [] if name in WITHOUT_DATA else [data]
    if name in SECOND:
        second = SECOND[name](drawn)
        words.said.append(f"with {second!r}")
        given.append(second)
    function = getattr(tw, name)
    parameters = inspect.signature(function).parameters
    fixed = {key: value for key, value in FIXED.items() if key in parameters}
    result = function(*given, **options, **fixed)
    words.said.append("; used:")
    use(result, drawn, given, words, options)
    if name == "describe":
        _use_data(data, drawn, words)


def use(
    result: Any,
    drawn: Drawn,
    given: list[Any],
    words: Words,
    options: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    """Use a result in all the ways that it offers, and draw it in some."""
    begin = words
    begin("repr")
    assert isinstance(repr(result), str)
    if result is None:
        begin("read")
        _read_back(drawn, options)
        return
    if hasattr(result, "_repr_html_"):
        begin("_repr_html_")
        assert result._repr_html_() is None or isinstance(result._repr_html_(), str)
    for method in ("summary", "note", "verdict", "sentences", "diagnostics", "problems"):
        if callable(getattr(result, method, None)):
            begin(method)
            getattr(result, method)()
    begin("pickle")
    again = pickle.loads(pickle.dumps(result))
    if hasattr(result, "to_dict"):
        begin("to_dict")
        text = json.dumps(result.to_dict(), allow_nan=False)
        assert json.dumps(again.to_dict(), allow_nan=False) == text
    if hasattr(result, "to_frame"):
        taken = inspect.signature(result.to_frame).parameters
        begin("to_frame")
        result.to_frame()
        for backend in ("pandas", "polars", "pyarrow") if "backend" in taken else ():
            result.to_frame(backend=backend)
    if hasattr(result, "save"):
        begin("save")
        _save_and_load(result, drawn)
    for kind, more in MORE.items():
        if isinstance(result, kind):
            more(result, drawn, given, begin)
    _draw(result, drawn, given, begin)


def _save_and_load(result: Any, drawn: Drawn) -> None:
    suffixes = {tw.Battles: "parquet", tw.Counts: "npz", tw.Rankings: "npz"}
    suffix = suffixes.get(type(result), "nc")
    path = drawn.path(suffix)
    result.save(path)
    loaded = type(result).load(path)
    if hasattr(result, "to_dict"):
        assert json.dumps(loaded.to_dict()) == json.dumps(result.to_dict())
    else:
        assert loaded.fingerprint() == result.fingerprint()


def _read_back(drawn: Drawn, options: Mapping[str, Any]) -> None:
    known = options.get("format", "auto")
    for path in drawn.folder.glob("result.*"):
        assert tw.read_rankings(path, format=known, unranked="below", ties="allow")


def _use_data(data: Any, drawn: Drawn, begin: Words) -> None:
    """Use the data of a call: printed, saved and loaded, merged with themselves."""
    begin("data")
    use(data, drawn, [], begin)
    if isinstance(data, tw.Rankings):
        begin("merge")
        merged = tw.Rankings.merge([data, data])
        assert np.isclose(merged.n_rankings, 2 * data.n_rankings)


def _more_of_fit(fit: tw.Fit, drawn: Drawn, given: list[Any], begin: Words) -> None:
    begin("model")
    _use_model(fit.model(), drawn, given, begin)


def _use_model(model: Any, drawn: Drawn, given: list[Any], begin: Words) -> None:
    data = given[0] if given else None
    pickle.loads(pickle.dumps(model))
    begin("sample")
    sampled = model.sample(5, rng=1)
    begin("log_prob")
    assert (model.log_prob(sampled) < 1e-9).all()
    if isinstance(data, tw.Rankings | tw.Preferences):
        assert not np.isnan(model.log_prob(data)).any()
    for method in (
        *("log_partition", "mean_distance", "var_distance", "rank_tier_probabilities"),
        *("pair_probabilities", "rank_probabilities", "mean_ranks"),
    ):
        if hasattr(model, method):
            begin(method)
            assert np.isfinite(np.asarray(getattr(model, method)())).all()
    if hasattr(model, "distances"):
        begin("distances")
        assert (model.distances(sampled) >= 0).all()


def _more_of_posterior(posterior: tw.Posterior, drawn: Drawn, _given: Any, begin: Words) -> None:
    for method in (
        *("tiers", "tier_probabilities", "co_tier_probabilities", "above_probabilities"),
        *("n_tiers_probabilities", "sizes_probabilities", "divided_items"),
        *("better_than_next_probabilities", "rank_interval"),
    ):
        begin(method)
        getattr(posterior, method)()
    begin("best_k_probabilities")
    posterior.best_k_probabilities(1)
    begin("theta_interval")
    assert np.isfinite(posterior.theta_interval()).all()
    if posterior.sizes is not None:
        begin("rank_tier_bands")
        posterior.rank_tier_bands()


def _more_of_partition(psi: Any, drawn: Drawn, _given: Any, begin: Words) -> None:
    for theta in (0.0, 1e-6, 0.5, 5.0, np.inf):
        begin(f"moments({theta})")
        moments = psi.moments(theta)
        assert not np.isnan([moments.log_value, moments.mean, moments.variance]).any()
    begin("distribution")
    psi.distribution().probabilities(1.0)


def _more_of_board(board: tw.Leaderboard, drawn: Drawn, given: Any, begin: Words) -> None:
    for method in ("to_csv", "to_json", "to_markdown"):
        begin(method)
        getattr(board, method)()
    use(board.fit, drawn, given, begin)


def _more_of_search(search: tw.Search, drawn: Drawn, given: Any, begin: Words) -> None:
    begin("best")
    use(search.best, drawn, given, begin)


def _more_of_imputation(imputed: tw.Imputation, _drawn: Any, _given: Any, begin: Words) -> None:
    begin("mean_ranks")
    assert np.isfinite(imputed.mean_ranks()).all()
    assert np.allclose(imputed.place_probabilities(0).sum(axis=1), 1.0)


def _more_of_page(_analysis: Any, drawn: Drawn, _given: Any, begin: Words) -> None:
    begin("page")
    page = drawn.path("html").read_text(encoding="utf-8")
    assert "<script>" not in page or "</html>" in page


MORE: dict[type, Callable[..., None]] = {
    tw.Fit: _more_of_fit,
    tw.Posterior: _more_of_posterior,
    tw.Leaderboard: _more_of_board,
    tw.Search: _more_of_search,
    tw.Imputation: _more_of_imputation,
}


def _draw(result: Any, drawn: Drawn, given: list[Any], begin: Words) -> None:
    """Draw one of the figures that there are of a result."""
    from matplotlib import pyplot as plt

    figures = [
        figure for kind, known in FIGURES.items() if isinstance(result, kind) for figure in known
    ]
    data = given[0] if given else None
    if isinstance(result, tw.Fit | tw.Description | tw.PairsDescription):
        figures += [
            figure
            for kind, known in FIGURES_OF_DATA.items()
            if isinstance(data, kind)
            for figure in known
        ]
    if not figures:
        return
    name = str(drawn.rng.choice(figures))
    begin(f"plots.{name} figure")
    tiers = result if isinstance(result, tw.Fit) else None
    if name in ("co_tier_matrix", "tier_probabilities") or (name == "tier_list" and tiers is None):
        shown = given[1] if isinstance(result, tw.Bootstrap) else result.tiers()
        ax = getattr(plots, name)(shown, result)
    elif name in ("trace", "chain_ranks"):
        ax = getattr(plots, name)(result, drawn.one_of(("theta", "total_distance", "n_tiers")))
    elif name in sum(FIGURES_OF_DATA.values(), ()):
        ax = (
            getattr(plots, name)(data)
            if name == "rank_shares"
            else getattr(plots, name)(data, tiers)
        )
    else:
        ax = getattr(plots, name)(result)
    ax.figure.canvas.draw()
    plt.close("all")


FIGURES: dict[type, tuple[str, ...]] = {
    tw.Fit: ("agreement_along_tiers", "tier_list", "rank_tier_bars"),
    tw.Posterior: ("trace", "chain_ranks", "co_tier_matrix", "tier_list", "tier_probabilities"),
    tw.Bootstrap: ("co_tier_matrix", "tier_list", "tier_probabilities"),
    tw.Search: ("leaderboard", "merging_steps"),
    tw.Leaderboard: ("rank_intervals",),
    tw.FitCheck: ("expected_pairs", "expected_ranks", "theta_along_ranking"),
    tw.Mixture: ("group_tier_lists", "memberships"),
    tw.GroupTree: ("group_tree",),
}
FIGURES_OF_DATA: dict[type, tuple[str, ...]] = {
    tw.Rankings: ("pairwise_matrix", "rank_boxes", "rank_shares"),
    tw.Preferences: ("pairwise_matrix", "preferred_shares", "times_compared"),
}


def _where(error: BaseException) -> tuple[str, ...]:
    """Return where in the package an error arose, innermost last."""
    package = str(Path(tw.__file__).parent)
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename.startswith(package)]
    return tuple(
        f"{Path(frame.filename).relative_to(package)}:{frame.lineno}" for frame in own[-4:]
    )


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    def ring(*_: Any) -> None:
        raise TooLong(f"more than {seconds:g} seconds of the processor")

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _close_figures() -> None:
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


def _answer(connection: Any, seconds: float) -> None:
    """Make the calls whose numbers come in, in a child process."""
    while True:
        connection.send(call(connection.recv(), seconds=seconds))


class Child:
    """A process that makes calls; another one takes over where it crashes or hangs."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_answer, args=(theirs, self._seconds), daemon=True)
        self._process.start()
        theirs.close()

    def call(self, number: int) -> Outcome:
        self._connection.send(number)
        try:
            silent = not self._connection.poll(PATIENCE * self._seconds)
            outcome = Outcome(number, "hang", "in a kernel") if silent else self._connection.recv()
        except (EOFError, ConnectionResetError):
            self._process.join()
            outcome = Outcome(number, "crash", f"exit code {self._process.exitcode}")
        if outcome.kind in ("hang", "crash"):
            # What was interrupted while it compiled does not work any more.
            self.end()
            self._start()
        return outcome

    def end(self) -> None:
        self._process.kill()
        self._process.join()


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--calls", type=int, default=1000, help="how many")
    parser.add_argument("--first", type=int, default=0, help="number of the first")
    parser.add_argument("--only", type=int, help="make one call here, and show its traceback")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="how long a call may take")
    parser.add_argument("--refusals", type=int, default=0, help="how many kinds of them to list")
    given = parser.parse_args()
    if given.only is not None:
        print(call(given.only, seconds=given.seconds, reraise="yes"))
        return 0
    kinds: collections.Counter[str] = collections.Counter()
    faults: dict[tuple[Any, ...], list[Outcome]] = collections.defaultdict(list)
    refusals: collections.Counter[str] = collections.Counter()
    child, started = Child(given.seconds), time.perf_counter()
    for number in range(given.first, given.first + given.calls):
        outcome = child.call(number)
        kinds[outcome.kind] += 1
        if outcome.kind == "refusal":
            refusals[f"{outcome.what.partition(' ')[0]}: {outcome.message[:90]}"] += 1
        if outcome.is_fault:
            alike = faults[outcome.kind, outcome.where[-1:], outcome.message.partition(":")[0]]
            alike.append(outcome)
            if len(alike) == 1:
                print(outcome, flush=True)
        if (number - given.first) % 100 == 99:
            print(f"-- {dict(kinds)} in {time.perf_counter() - started:.0f} s", flush=True)
    child.end()
    print(f"\n{given.calls} calls from {given.first}: {dict(kinds)}")
    for message, times in refusals.most_common(given.refusals):
        print(f"{times:5} refused: {message}")
    for alike in sorted(faults.values(), key=len, reverse=True):
        print(f"{len(alike)} times, as {[one.number for one in alike[:5]]}: {alike[0]}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
