"""What can be done with answers: each source says it once, and functions ask nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from tierwise.errors import InputError, use

Engine: TypeAlias = Literal["completions", "mistakes", "comparisons"]
"""Which engine fits, searches and draws: each of these has a table with an entry for it.

"completions" sums over, or draws, the orderings that agree with an answer; one, where answers are
complete. "mistakes" does so with answers that may be mistaken. "comparisons" knows who won against
whom, and how often.
"""

AllSizes: TypeAlias = Literal["weak orders", "comparisons", "completions"]
"""What tiers of all sizes at once are found from, or drawn given."""


@dataclass(frozen=True)
class Capabilities:
    """What can be done with answers under a distance.

    Attributes
    ----------
    answers
        What the answers are called.
    engine
        Which engine is for them.
    complete
        Whether answers leave nothing open, whatever the sizes of the tiers.
    all_sizes
        What tiers of all sizes at once are found from, and drawn given, if they can be.
    evidence
        Whether the probability of the answers given sizes only can be computed or estimated.
    single_answers
        Whether single answers are known, which can be weighed, completed and drawn again.

    Examples
    --------
    >>> import tierwise as tw
    >>> from tierwise.answers.likelihood import source_of
    >>> source_of(tw.load_political_goals(), "inversions").capabilities.all_sizes
    'weak orders'
    >>> source_of(tw.Battles.from_rows([("x", "y", "x")]), None).capabilities.criteria
    ('posterior', 'likelihood', 'agreement', 'both')
    """

    answers: str
    engine: Engine
    complete: bool
    all_sizes: AllSizes | None
    evidence: bool
    single_answers: bool

    @property
    def searched_in_seconds(self) -> bool:
        """Whether tiers of all sizes are searched at once, however many items there are.

        Where answers leave something open, that depends on how much.
        """
        return self.all_sizes in ("weak orders", "comparisons")

    @property
    def may_be_mistaken(self) -> bool:
        """Whether answers may be mistaken."""
        return self.engine == "mistakes"

    @property
    def criteria(self) -> tuple[str, ...]:
        """Criteria by which sizes can be compared."""
        evidence = ("evidence",) if self.evidence else ()
        return ("posterior", "likelihood", *evidence, "agreement", "both")

    def refuse_mistakes(self) -> None:
        """Raise if answers may be mistaken."""
        if self.may_be_mistaken:
            raise InputError(
                "these preferences may be mistaken, so any ordering is possible",
                ["fit them", use("when they are made", cycles="error")],
            )
