"""choose: the model that describes the answers best, by evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tierwise._util.cards import Card
from tierwise._util.results import Result
from tierwise.model.priors import DEFAULT_PRIORS
from tierwise.searching.result import NOT_DECIDED, not_compared
from tierwise.searching.search import search

if TYPE_CHECKING:
    from tierwise._util.checks import RandomSource
    from tierwise._util.tasks import Progress
    from tierwise.data.kinds import Data
    from tierwise.distances import Distance
    from tierwise.fitting.fit import ConcentrationChoice
    from tierwise.fitting.result import Family, Fit
    from tierwise.model.priors import Priors
    from tierwise.partition.base import Concentration
    from tierwise.searching.compared import FamilyChoice
    from tierwise.searching.result import Search


@dataclass(frozen=True, eq=False, repr=False)
class Choice(Result):
    """The model that describes answers best, with its best tiers; `choose` makes it.

    Attributes
    ----------
    search : Search
        The search that compared the models.
    """

    search: Search

    @property
    def fit(self) -> Fit:
        """The best tiers, with their worths or theta."""
        return self.search.best

    @property
    def family(self) -> Family:
        """The family of models: "mallows" or "luce"."""
        return self.fit.family

    @property
    def distance(self) -> str:
        """The distance; empty for "luce"."""
        return self.fit.distance

    @property
    def concentration(self) -> Concentration:
        """Whether there is one theta ("single"), or one per "tier" or "place"."""
        return self.fit.concentration

    def sentence(self) -> str:
        """Return a sentence on what was chosen, and how far the others are behind.

        Examples
        --------
        >>> import tierwise as tw
        >>> tw.choose(tw.load_political_goals()).sentence()
        'Inversions with a theta per tier describes the answers best; kendall is 8.7 behind ...'
        """
        best, *others = self.search.families
        left_out = "".join(f" {sentence}" for sentence in not_compared(self.search))
        if len(self.fit.tiers) == 1:
            return f"No model shows differences between the items.{left_out}"
        name = f"{best.name[0].upper()}{best.name[1:]}"
        if not others:
            return f"Model: {best.name}.{left_out}"
        first, *rest = others
        standings = f"{first.name} is {first.standing}"
        if first.behind < 0.0:
            standings += "".join(f", {other.name} {other.standing}" for other in rest)
            return f"{NOT_DECIDED}; {standings}.{left_out}"
        standings += "".join(f", {other.name} {other.standing}" for other in rest)
        return f"{name} describes the answers best; {standings}.{left_out}"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, as in JSON."""
        return {
            "family": self.family,
            "distance": self.distance or None,
            "concentration": self.concentration,
            "sentence": self.sentence(),
            "families": [one.to_dict() for one in self.search.families],
            "left_out": dict(self.search.left_out),
        }

    def __repr__(self) -> str:
        return f"Choice({self.sentence()!r})"

    def _card(self) -> Card:
        return Card("Which model", sections=[self.fit.tier_section()], note=self.sentence())


def choose(
    data: Data,
    *,
    family: FamilyChoice = "auto",
    distance: str | Distance = "auto",
    concentration: ConcentrationChoice | None = None,
    priors: Priors = DEFAULT_PRIORS,
    max_tiers: int | None = None,
    margin: float = 0.5,
    seconds: float | None = None,
    workers: int | None = None,
    progress: Progress = "auto",
    rng: RandomSource = None,
) -> Choice:
    """Compare models by how probable they make the answers, and choose the best.

    Arguments that you give are used; the rest is decided by the posterior probability of the best
    tiers of each model, with the same prior of tiers for all. Worths are chosen unless a distance
    is ahead by more than 3, a factor of 20: with one theta, items either differ by a whole step or
    are tied, so with few data a distance ties items that may well differ. Models with several
    thetas are compared if their tiers can be drawn: one theta per tier, under inversions.

    Parameters
    ----------
    data
        Answers of any kind.
    family, distance, concentration, priors, max_tiers, margin, seconds
        As in `search`.
    workers, progress, rng
        As in `search`.

    Examples
    --------
    >>> import tierwise as tw
    >>> choice = tw.choose(tw.load_political_goals())
    >>> choice.family, choice.distance
    ('mallows', 'inversions')
    >>> choice.concentration, choice.fit.tiers
    ('tier', Tiers('order ~ prices > say > speech'))
    """
    return Choice(
        search(
            data,
            distance,
            family=family,
            concentration=concentration,
            priors=priors,
            max_tiers=max_tiers,
            margin=margin,
            seconds=seconds,
            workers=workers,
            progress=progress,
            rng=rng,
        )
    )
