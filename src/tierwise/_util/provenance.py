"""What made a result, and from what data: provenance and fingerprints.

Fingerprints of data are equal where a likelihood is, whatever the order of the answers. Answers are
a multiset, hashed as a sum of the hashes of its members (MSet-Add-Hash). So answers in another
order, or one of weight 2 instead of two alike, have the same fingerprint, and data that are
read piece by piece need not be in memory.

References
----------
D. Clarke, S. Devadas, M. van Dijk, B. Gassend and G. E. Suh (2003). Incremental multiset hash
functions and their application to memory integrity checking. ASIACRYPT 2003, 188-207.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from hashlib import sha256
from math import nan
from time import perf_counter
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from tierwise import __version__
from tierwise._util.checks import RandomSource, check_choice

# A prime: so weights that are no whole numbers have exact multiples, too.
_MODULUS = 2**255 - 19
# Larger floats do not fit into whole numbers of 64 bits.
_LARGEST_WHOLE = 2.0**63
_NUMBERS_AT_A_TIME = 1_000_000


class MultisetHash:
    """The sum of the hashes of answers, each times its weight.

    Examples
    --------
    >>> one, other = MultisetHash(), MultisetHash()
    >>> one.add(np.array([[0, 1], [1, 0], [0, 1]]), np.array([1, 1, 1]))
    >>> other.add(np.array([[1, 0], [0, 1]]), np.array([1.0, 2.0]))
    >>> one.total == other.total
    True
    """

    def __init__(self) -> None:
        self.total = 0

    def add(self, rows: NDArray[Any], weights: NDArray[Any]) -> None:
        """Add answers, one row each, with their weights."""
        for row, weight in zip(_plain(rows), weights.tolist(), strict=True):
            if weight:
                value = int.from_bytes(sha256(row.tobytes()).digest(), "little")
                self.total = (self.total + value * _residue(weight)) % _MODULUS


def fingerprint_of_answers(
    items: Iterable[Any], unranked: str | None, answers: MultisetHash
) -> str:
    """Return the fingerprint of rankings whose places and weights were added to a hash."""
    return digest("rankings", names_of(items), unranked, answers.total)


def digest(*parts: Any) -> str:
    """Return the hex digest of texts, numbers, tuples and arrays, each distinguished from the next.

    Examples
    --------
    >>> digest("a", "bc") == digest("ab", "c")
    False
    """
    hashed = sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            dtype = _plain_type(part)
            hashed.update(f"array {dtype} {part.shape} {part.size * dtype.itemsize}:".encode())
            # Piece by piece: a copy of all would take as much memory again, or more.
            for piece in _pieces(part):
                hashed.update(np.ascontiguousarray(piece, dtype=dtype).data)
        else:
            body = repr(part).encode("utf-8", "backslashreplace")
            hashed.update(f"{type(part).__name__} {len(body)}:".encode())
            hashed.update(body)
    return hashed.hexdigest()


def names_of(items: Iterable[Any]) -> tuple[str, ...]:
    """Return items as texts that tell 1 from "1" and do not depend on where in memory they lie."""
    return tuple(f"{type(item).__name__} {item!s}" for item in items)


def _plain(array: NDArray[Any]) -> NDArray[Any]:
    """Return numbers in one type and byte order, so that equal numbers have equal bytes."""
    return np.ascontiguousarray(array, dtype=_plain_type(array))


def _plain_type(array: NDArray[Any]) -> np.dtype[Any]:
    """Return the one type for these numbers: that of whole numbers if all of them are whole."""
    whole = array.dtype.kind != "f" or all(map(_are_whole, _pieces(array)))
    return np.dtype("<i8" if whole else "<f8")


def _are_whole(numbers: NDArray[Any]) -> bool:
    if not np.isfinite(numbers).all() or np.abs(numbers).max(initial=0.0) >= _LARGEST_WHOLE:
        return False
    return bool((numbers == np.floor(numbers)).all())


def _pieces(array: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Cut an array into pieces of some megabytes, in the order in which its numbers are stored."""
    flat = array.reshape(-1)
    for start in range(0, flat.size, _NUMBERS_AT_A_TIME):
        yield flat[start : start + _NUMBERS_AT_A_TIME]


def _residue(weight: float) -> int:
    numerator, denominator = weight.as_integer_ratio()
    return numerator if denominator == 1 else numerator * pow(denominator, -1, _MODULUS)


@dataclass(frozen=True)
class Provenance:
    """Version, seed and time of a computation.

    Attributes
    ----------
    seed
        The seed given as ``rng``; None if there was none, or it was a generator.
    seconds
        How long it took.
    version
        The version of tierwise.
    """

    seed: int | None
    seconds: float
    version: str = __version__

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """Make it from plain values; fields of later versions are ignored.

        Examples
        --------
        >>> Provenance.from_dict({"seed": 1, "seconds": 2.0, "version": "9", "machine": "m"})
        Provenance(seed=1, seconds=2.0, version='9')
        """
        known = {one.name: plain[one.name] for one in fields(cls) if one.name in plain}
        return cls(**{"seed": None, "seconds": nan, **known})

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values, as in JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Stopwatch:
    """Measures from its making to `provenance`."""

    started: float = field(default_factory=perf_counter)

    def provenance(self, rng: RandomSource) -> Provenance:
        """Say what made the result, now that it is there."""
        seed = rng if isinstance(rng, int) else None
        return Provenance(seed=seed, seconds=perf_counter() - self.started)


def cite(style: Literal["text", "bibtex"] = "text") -> str:
    """Return the references to cite: the paper of the model, and this version of the package.

    Parameters
    ----------
    style
        "text", or "bibtex" for LaTeX.

    Examples
    --------
    >>> import tierwise as tw
    >>> print(tw.cite())  # doctest: +ELLIPSIS
    Piancastelli, L. S. C. and Friel, N. (2024). Clustered Mallows Model. arXiv:2403.12880.
    The tierwise developers. tierwise: tiers from rankings, battles and scores, version ...
    """
    check_choice("style", style, ("text", "bibtex"))
    if style == "text":
        return (
            "Piancastelli, L. S. C. and Friel, N. (2024). Clustered Mallows Model. "
            "arXiv:2403.12880.\n"
            "The tierwise developers. tierwise: tiers from rankings, battles and scores, "
            f"version {__version__}."
        )
    return (
        "@article{piancastelli2024clustered,\n"
        "  author = {Piancastelli, Luiza S. C. and Friel, Nial},\n"
        "  title = {Clustered {M}allows Model},\n"
        "  year = {2024},\n"
        "  journal = {arXiv:2403.12880},\n"
        "  url = {https://arxiv.org/abs/2403.12880}\n"
        "}\n"
        "@software{tierwise,\n"
        "  author = {{The tierwise developers}},\n"
        "  title = {tierwise: tiers from rankings, battles and scores},\n"
        f"  version = {{{__version__}}}\n"
        "}"
    )
