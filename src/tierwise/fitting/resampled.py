"""Bootstrap: tiers and thetas, or worths, of resampled answers, and what they say."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tierwise._util.cards import Card
from tierwise._util.checks import check_level
from tierwise._util.columns import within
from tierwise._util.provenance import Provenance
from tierwise._util.results import Result
from tierwise._util.types import Item, item_coordinate, plain, plain_item
from tierwise.data.frames import Backend, make_frame, table_of_items
from tierwise.errors import InputError, counted, percent, share_in_words
from tierwise.fitting.result import Fit
from tierwise.luce.estimates import ELO
from tierwise.model.ranks import shares_of_tiers

if TYPE_CHECKING:
    from xarray import DataArray

BootstrapKind: TypeAlias = Literal["nonparametric", "parametric"]


@dataclass(frozen=True, eq=False, repr=False)
class Bootstrap(Result):
    """Fits to resampled rankings.

    Attributes
    ----------
    fit : Fit
        The fit that was resampled.
    kind : str
        "nonparametric" (resampled answers) or "parametric" (new answers from the model).
    thetas : numpy.ndarray
        Theta of each replicate; ``thetas[replicate, part]`` if the fit has several or none.
    labels : numpy.ndarray
        ``labels[replicate, item]``: the tier of each item, 1 being the best.
    resampled : str
        What was resampled: answers, people with their weights, or clusters of people.
    provenance : Provenance
        Version, seed and time.
    log_worths : numpy.ndarray or None
        ``log_worths[replicate, item]`` if tiers have worths; the mean over items is 0.
    """

    fit: Fit
    kind: BootstrapKind
    thetas: NDArray[np.float64]
    labels: NDArray[np.int64]
    provenance: Provenance
    resampled: str = "answers"
    log_worths: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        """Return the number of replicates."""
        return len(self.labels)

    def __repr__(self) -> str:
        if self.log_worths is not None:
            return f"Bootstrap({len(self)} {self.kind} replicates, {self._numbers_of_tiers()})"
        ranges = ", ".join(f"{low:.4g} to {high:.4g}" for low, high in self.theta_intervals())
        return f"Bootstrap({len(self)} {self.kind} replicates, theta {ranges})"

    @property
    def items(self) -> tuple[Item, ...]:
        """The items of the columns of ``labels``."""
        return self.fit.tiers.items

    def theta_interval(self, level: float | None = None) -> tuple[float, float]:
        """Return the interval that contains theta in a share of the replicates.

        Parameters
        ----------
        level
            The share; None means the level of the fit.
        """
        intervals = self.theta_intervals(level)
        if not intervals:
            raise InputError("this fit has worths instead of theta: use strength_intervals")
        if len(intervals) != 1:
            raise InputError(
                f"there are {len(intervals)} thetas, one per {self.fit.concentration}: "
                "use theta_intervals"
            )
        return intervals[0]

    def theta_intervals(self, level: float | None = None) -> tuple[tuple[float, float], ...]:
        """Return, for each theta, the interval that holds it in a share of the replicates.

        Parameters
        ----------
        level
            The share; None means the level of the fit.
        """
        return self._intervals(self.thetas.reshape(len(self), -1), level)

    def strength_intervals(self, level: float | None = None) -> tuple[tuple[float, float], ...]:
        """Return, for each item, the interval that holds its strength in a share of replicates.

        Strengths are worths on the Elo scale, ``400 log10(worth)``, with a mean over items of 0.

        Parameters
        ----------
        level
            The share; None means the level of the fit.
        """
        if self.log_worths is None:
            raise InputError("this fit has theta instead of worths: use theta_intervals")
        return self._intervals(ELO * self.log_worths, level)

    def _intervals(
        self, columns: NDArray[np.float64], level: float | None
    ) -> tuple[tuple[float, float], ...]:
        tail = (1 - check_level(self.fit.level if level is None else level)) / 2
        # Order statistics, not interpolation: a replicate's theta may be infinite.
        ends = np.quantile(columns, [tail, 1 - tail], axis=0, method="inverted_cdf")
        return tuple((float(low), float(high)) for low, high in ends.T)

    def tier_probabilities(self) -> "DataArray":
        """Return how often the rank of each item (row) is among those of each tier (column).

        The tiers are those of the fit. If all replicates have tiers of the same sizes, this is the
        share with the item in the tier; if tiers of all sizes are searched, the items of a tier
        share its ranks, every order being equally probable.
        """
        sizes = self.fit.sizes
        shares = shares_of_tiers(self.labels, sizes)
        return table_of_items(self.items, shares, "tier", np.arange(1, len(sizes) + 1))

    def co_tier_probabilities(self) -> "DataArray":
        """Return the share of replicates in which each pair of items is tied."""
        tied = np.zeros((len(self.items), len(self.items)))
        for labels in self.labels:
            tied += labels[:, None] == labels
        return table_of_items(self.items, tied / len(self), "other", item_coordinate(self.items))

    def to_frame(self, *, backend: Backend = "pandas") -> Any:
        """Return a data frame with one row per item, best first: its tier, and shares of tiers.

        With worths, it also has an interval of the strength.

        Parameters
        ----------
        backend
            The library of the data frame: "pandas", "polars" or "pyarrow".

        """
        items, shares = self.items, self.tier_probabilities().to_numpy()
        order = sorted(range(len(items)), key=lambda item: self.fit.tiers[items[item]])
        columns: dict[str, list[Any]] = {
            "item": [plain_item(items[item]) for item in order],
            "tier": [self.fit.tiers[items[item]] for item in order],
        }
        if self.log_worths is not None:
            intervals = self.strength_intervals()
            columns["strength_low"] = [intervals[item][0] for item in order]
            columns["strength_high"] = [intervals[item][1] for item in order]
        for tier in range(shares.shape[1]):
            columns[f"p_tier_{tier + 1}"] = shares[order, tier].tolist()
        return make_frame(columns, backend)

    def _card(self) -> Card:
        shares = self.tier_probabilities().to_numpy()
        sure = {
            item: float(shares[place, self.fit.tiers[item] - 1])
            for place, item in enumerate(self.items)
        }
        facts = [("", line) for line in self._parameter_lines()]
        title = f"{len(self)} {self.kind} replicates{self.of_what()}"
        return Card(title, facts, [self.fit.tier_section()], sure)

    def summary(self, width: int = 88) -> str:
        """Return a table as text: each item's tier, and in how many replicates it has that tier.

        Parameters
        ----------
        width
            The width of the text, in characters.
        """
        shares = self.tier_probabilities().to_numpy()
        items = self.fit.tiers.items
        longest = max(len(str(item)) for item in items)
        order = sorted(range(len(items)), key=lambda item: self.fit.tiers[items[item]])
        strengths = [""] * (len(items) + 1)
        if self.log_worths is not None:
            strengths = [f"{'strength':>16}  "] + [
                f"{f'{low:.0f} to {high:.0f}':>16}  " for low, high in self.strength_intervals()
            ]
        text = "\n".join(
            [
                f"{len(self)} {self.kind} replicates{self.of_what()}{self._held()}",
                *self._parameter_lines(),
                "",
                f"{'item':<{longest}}  tier  {strengths[0]}in its tier  in other tiers",
                *(
                    f"{items[item]!s:<{longest}}  {self.fit.tiers[items[item]]:>4}  "
                    + strengths[item + 1]
                    + _shares(shares[item], self.fit.tiers[items[item]])
                    for item in order
                ),
            ]
        )
        return within(text, width)

    def of_what(self) -> str:
        """Say what was resampled, if not answers."""
        return "" if self.resampled == "answers" else f", drawing {self.resampled}"

    def sizes_in_words(self) -> str:
        """Say whether sizes were fixed or searched in the replicates."""
        return "sizes held fixed" if self.log_worths is None else "sizes searched again in each"

    def _held(self) -> str:
        """Say that sizes were held fixed, if they were."""
        return ", sizes held fixed" if self.log_worths is None else ""

    def _numbers_of_tiers(self) -> str:
        """Say how many tiers the replicates have."""
        fewest, most = int(self.labels.max(axis=1).min()), int(self.labels.max())
        return counted(most, "tier") if fewest == most else f"{fewest} to {most} tiers"

    def _parameter_lines(self) -> list[str]:
        if self.log_worths is not None:
            same = float((self.labels.max(axis=1) == len(self.fit.sizes)).mean())
            return [
                f"tiers of all sizes searched again in each: {self._numbers_of_tiers()}, in "
                f"{share_in_words(same)} as many as in the fit ({len(self.fit.sizes)})",
                f"strength: {percent(self.fit.level)} of replicates, on the Elo scale; in its "
                "tier: the rank is among those of the tier",
            ]
        of = [""] if self.fit.concentration == "single" else self.fit.part_names
        parts = zip(of, self.fit.thetas, self.theta_intervals(), strict=True)
        return [
            f"theta {name + ' ' if name else ''}{theta:.4f}, {percent(self.fit.level)} of "
            f"replicates between {low:.4f} and {high:.4f}"
            for name, theta, (low, high) in parts
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, as in JSON."""
        items = self.fit.tiers.items
        return {
            "kind": self.kind,
            "resampled": self.resampled,
            "replicates": len(self),
            "sizes": "held" if self.log_worths is None else "searched",
            **self._plain_parameters(),
            "level": self.fit.level,
            "items": [plain_item(item) for item in items],
            "tier_probabilities": self.tier_probabilities().to_numpy().tolist(),
            "co_tier_probabilities": self.co_tier_probabilities().to_numpy().tolist(),
            "provenance": self.provenance.to_dict(),
        }

    def _plain_parameters(self) -> dict[str, Any]:
        """Return the intervals of thetas, or of strengths, as plain values."""
        if self.log_worths is not None:
            strengths = self.fit.strengths
            numbers = self.labels.max(axis=1)
            return {
                "strengths": [strengths[self.fit.tiers[item] - 1] for item in self.items],
                "strength_intervals": plain(self.strength_intervals()),
                "numbers_of_tiers": {
                    str(number): float((numbers == number).mean())
                    for number in np.unique(numbers).tolist()
                },
            }
        intervals = self.theta_intervals()
        single = self.fit.concentration == "single"
        return {
            "theta": plain(self.fit.theta),
            "theta_interval": plain(intervals[0] if single else intervals),
        }


def _shares(shares: NDArray[np.float64], tier: int) -> str:
    others = [
        f"{number} ({share_in_words(share)})"
        for number, share in enumerate(shares.tolist(), start=1)
        if number != tier and share > 0
    ]
    return f"{share_in_words(shares[tier - 1]):>11}  {', '.join(others)}".rstrip()
