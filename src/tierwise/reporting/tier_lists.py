"""Tier lists, as the template shows them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tierwise.plots import style

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tierwise._util.types import Item
    from tierwise.tiers.ordered_partition import Tiers


@dataclass(frozen=True)
class ShownItem:
    """An item, and how sure its tier is, if that is known."""

    name: str
    sure: float | None


@dataclass(frozen=True)
class ShownTier:
    """A tier with its colour, and the colour of text on it."""

    number: int
    colour: str
    ink: str
    members: tuple[ShownItem, ...]


def tier_list(
    tiers: Tiers, probabilities: Mapping[Item, Sequence[float]] | None = None
) -> list[ShownTier]:
    """Return tiers to show, with how probable its tier is for each item if that is known."""
    colours = style.tier_colours(len(tiers))
    return [
        ShownTier(
            number,
            colour,
            style.readable_on(colour),
            tuple(
                ShownItem(
                    str(item), None if probabilities is None else probabilities[item][number - 1]
                )
                for item in tier
            ),
        )
        for number, (tier, colour) in enumerate(zip(tiers, colours, strict=True), start=1)
    ]
