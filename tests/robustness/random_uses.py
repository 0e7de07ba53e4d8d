"""What is done with results of calls at random: printed, kept, drawn, as people do."""

from __future__ import annotations

import inspect
import json
import pickle
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

import tierwise as tw
from tierwise import plots

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.robustness.random_options import (
        Drawn,
    )


@dataclass
class Words:
    """What a call is, in words that grow as it is drawn."""

    said: list[str] = field(default_factory=list)

    def __call__(self, *more: str) -> None:
        self.said += more

    def __str__(self) -> str:
        return " ".join(self.said)


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


def use_data(data: Any, drawn: Drawn, begin: Words) -> None:
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
