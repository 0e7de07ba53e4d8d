"""The effective number of battles if judges decided several each.

Judges have tastes of their own, so battles of one judge depend on each other, and taken as
independent they make everything look too sure. The scores of judges (what they add to the gradient
of the log-likelihood at the worths of all items) say by how much: their covariance is as large as
the information of the battles if these are independent, and larger otherwise. The average ratio is
the design effect; battles divided by it have a likelihood of the right width, a composite
likelihood that is adjusted in magnitude.

References
----------
M. Ribatet, D. Cooley and A. C. Davison (2012). Bayesian inference from composite likelihoods, with
an application to spatial extremes. Statistica Sinica 22, 813-845.
L. Kish (1965). Survey Sampling. Wiley, 8.2.
"""

from __future__ import annotations

from dataclasses import replace
from functools import singledispatch
from typing import TYPE_CHECKING, TypeVar, cast

import numpy as np

from tierwise.answers.races import races_of
from tierwise.data.battles import Battles
from tierwise.luce.worths import best_worths

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tierwise.data.kinds import KnownData
    from tierwise.files.battle_counts import BattleVotes

    _Floats = NDArray[np.float64]

_Data = TypeVar("_Data", bound="KnownData")

# Directions in which battles say less than this share of what they say at most are left out.
_LEAST_SHARE = 1e-8


def at_effective_number(data: _Data) -> _Data:
    """Return battles of judges who repeat as models count them; other data as they are.

    Examples
    --------
    >>> rows = [("x", "y", "x", "Ann")] * 20 + [("x", "y", "y", "Bob")] * 20
    >>> rows += [("x", "y", "x", "Eve")] * 20
    >>> battles = Battles.from_rows(rows)
    >>> battles.n_battles, round(at_effective_number(battles).n_battles)
    (60.0, 2)
    """
    return cast("_Data", _at_effective_number(data))


@singledispatch
def _at_effective_number(data: KnownData) -> KnownData:
    return data


@_at_effective_number.register(Battles)
def _battles_at_effective_number(battles: Battles) -> Battles:
    if not battles.composite or battles.design_effect is not None:
        return battles
    return replace(battles, design_effect=max(design_effect(battles), 1.0))


def design_effect(battles: Battles) -> float:
    """Estimate how many battles of these judges say as much as one independent battle.

    Parameters
    ----------
    battles
        Battles whose judges are known.
    """
    votes = battles.votes
    assert votes is not None
    if battles.drawn_as == "model":
        battles = battles.with_drawn("half")
    # How far judges differ about items hardly depends on who was shown first.
    races = races_of(replace(battles, position="ignore"))
    logs = best_worths(races, np.arange(len(battles.items))).logs
    scores, information = _scores_of_judges(votes, logs, drawn_count=battles.drawn_as == "half")
    values, vectors = np.linalg.eigh(information)
    kept = values > _LEAST_SHARE * values[-1]
    n_judges = int(np.count_nonzero(np.abs(scores).sum(axis=1)))
    if n_judges < 2:
        return 1.0
    # As for a sample variance: worths are fitted to the same judges.
    correction = n_judges / (n_judges - 1)
    spread = ((scores @ vectors[:, kept]) ** 2).sum(axis=0)
    return correction * float((spread / values[kept]).mean())


def _scores_of_judges(
    votes: BattleVotes, log_worths: _Floats, *, drawn_count: bool
) -> tuple[_Floats, _Floats]:
    """Return what each judge adds to the gradient in log worths, and the information of all."""
    n_items, n_judges = len(log_worths), len(votes.judges)
    kept = np.ones(len(votes.weight), dtype=bool) if drawn_count else ~votes.drawn
    judge, first, second = votes.judge[kept], votes.first[kept], votes.second[kept]
    weight = votes.weight[kept]
    chance = 1.0 / (1.0 + np.exp(log_worths[second] - log_worths[first]))
    surplus = weight * (np.where(votes.drawn[kept], 0.5, 1.0) - chance)
    cells = n_judges * n_items
    gained = np.bincount(judge * n_items + first, surplus, minlength=cells)
    lost = np.bincount(judge * n_items + second, surplus, minlength=cells)
    pairs = first * n_items + second
    spread = np.bincount(pairs, weight * chance * (1.0 - chance), minlength=n_items**2)
    shared = spread.reshape(n_items, n_items)
    shared = shared + shared.T
    scores: _Floats = (gained - lost).reshape(n_judges, n_items).astype(np.float64)
    return scores, np.diag(shared.sum(axis=1)) - shared
