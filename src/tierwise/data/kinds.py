"""The kinds of data: one check for every function that takes data."""

from os import PathLike
from typing import Any, Literal, TypeAlias, TypeVar, get_args, overload

import numpy as np

from tierwise.data.battles import Battles
from tierwise.data.counts import Counts
from tierwise.data.preferences import Preferences
from tierwise.data.rankings import Rankings
from tierwise.data.scan import RankingScan
from tierwise.errors import InputError, Remedy, instead, quoted

Data: TypeAlias = Rankings | RankingScan | Counts | Preferences | Battles
KnownData: TypeAlias = Rankings | Counts | Preferences | Battles
"""What `check_data` makes of data: scans are counted, or read."""
Answers: TypeAlias = Rankings | Preferences | Battles
"""What files may hold."""

_FROM_LISTS = (
    "make rankings from it with Rankings.from_orderings (items, best first) or Rankings.from_ranks "
    "(ranks)"
)
_REMEDIES: dict[type, str] = {
    RankingScan: "read the files with its method distinct()",
    Counts: "counts do not hold the answers, so pass the rankings that they were made from",
    Rankings: "make pairwise answers with Preferences.from_pairs",
    str: "read the file with tierwise.read",
    PathLike: "read the file with tierwise.read",
    np.ndarray: "make rankings from it with Rankings.from_ranks (ranks) or "
    "Rankings.from_order_array "
    "(positions of items, best first)",
    list: _FROM_LISTS,
    tuple: _FROM_LISTS,
}

# Kinds of data that files hold, in words, and what takes them.
_IN_WORDS: dict[type, tuple[str, Remedy]] = {
    Battles: (
        "battles",
        instead("leaderboard", "for tiers and rank intervals", command="leaderboard"),
    ),
    Preferences: ("pairwise answers", instead("fit", "for tiers", command="fit")),
}

_Scale: TypeAlias = Literal["as given", "effective"]

# Log probabilities of so many answers are rounded to about a tenth, and posteriors to as much.
MOST_ANSWERS = 1e13

_A = TypeVar("_A")
_B = TypeVar("_B")
_C = TypeVar("_C")


@overload
def check_data(data: object, taker: str, /, *, weights: _Scale = ...) -> KnownData: ...
@overload
def check_data(data: object, taker: str, kind: type[_A], /, *, weights: _Scale = ...) -> _A: ...
@overload
def check_data(
    data: object, taker: str, kind: type[_A], other: type[_B], /, *, weights: _Scale = ...
) -> _A | _B: ...
@overload
def check_data(
    data: object,
    taker: str,
    kind: type[_A],
    other: type[_B],
    third: type[_C],
    /,
    *,
    weights: _Scale = ...,
) -> _A | _B | _C: ...
def check_data(data: object, taker: str, *kinds: type[Any], weights: _Scale = "as given") -> Any:
    """Return the data in a form that a function takes, or raise an error with a remedy.

    Parameters
    ----------
    data
        The user's data.
    taker
        The name of the function.
    *kinds
        The types that it takes; without them, every kind of `KnownData`. If it takes rankings but
        not scans, a scan is counted, or read if it does not take counts.
    weights
        "effective" scales survey weights to the effective number of answers, and raises an error if
        weights may be counts or survey weights. Functions that draw conclusions use it; those that
        only pass answers on do not.

    Examples
    --------
    >>> check_data([["a", "b"]], "fit", Rankings, Counts)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    tierwise.errors.InputError: fit takes Rankings or Counts as data, but got a list: make ...
    """
    kinds = kinds or get_args(KnownData)
    if isinstance(data, kinds):
        scaled = weights == "effective" and isinstance(data, Rankings)
        return data.with_effective_weights() if scaled else data
    if isinstance(data, RankingScan) and Rankings in kinds:
        found = data.condensed() if Counts in kinds else data.distinct()
        return data.with_effective_weights(found) if weights == "effective" else found
    taken = [kind.__name__ for kind in kinds]
    for kind, (words, remedy) in _IN_WORDS.items():
        if isinstance(data, kind):
            others = _either([name.lower() for name in taken if name != "RankingScan"])
            raise InputError(f"these are {words}, but {taker} takes {others}", [remedy])
    raise InputError(
        f"{taker} takes {_either(taken)} as data, but got {_name(data)}: {_remedy(data)}"
    )


def as_given(data: Data, known: KnownData) -> KnownData:
    """Return data before their weights were scaled; of scans, what was read or counted."""
    return known if isinstance(data, RankingScan) else data


def _either(names: list[str]) -> str:
    return " or ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)


def _name(data: object) -> str:
    if data is None:
        return "None"
    if isinstance(data, str | PathLike):
        return f"the text {quoted(str(data))}"
    name = type(data).__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def _remedy(data: object) -> str:
    """Say how to make of the data something that can be taken."""
    if hasattr(data, "columns"):
        return "read the data frame with tierwise.read"
    for kind, remedy in _REMEDIES.items():
        if isinstance(data, kind):
            return remedy
    return "read a file with tierwise.read, or make rankings with Rankings.from_orderings"


def refuse_too_many_answers(data: KnownData) -> None:
    """Raise if the total weight is so large that log probabilities lose precision."""
    if data.n_rankings > MOST_ANSWERS:
        raise InputError(
            f"the weights add up to {data.n_rankings:.3g}, and beyond {MOST_ANSWERS:.0e} log "
            "probabilities of all answers lose too many digits",
            ["divide all weights by the same number"],
        )


# With so many items most sums over tiers need no compiler; beyond the other number they become
# chains and searches.
_VERY_FEW_ITEMS, _FEW_ITEMS = 6, 12
_KINDS_OF_RANKINGS = {None: "complete", "below": "the rest below", "anywhere": "with gaps"}


def use_of(command: str, data: Answers) -> str:
    """Return the name of what a command does with data of a kind, as lists of kernels know it.

    Examples
    --------
    >>> use_of("fit", Rankings.from_orderings([["a", "b"], ["b", "a"]]))
    'fit: rankings, complete, very few items'
    """
    words = [f"{command}: {data.kind}"]
    if isinstance(data, Rankings):
        words += [_KINDS_OF_RANKINGS[data.unranked], *(["ties"] if data.has_ties else [])]
    if isinstance(data, Preferences) and data.cycles == "keep":
        words.append("contradictions")
    if len(data.items) <= _VERY_FEW_ITEMS:
        words.append("very few items")
    if len(data.items) > _FEW_ITEMS:
        words.append("many items")
    return ", ".join(words)
