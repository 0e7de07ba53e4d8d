"""Changes from one leaderboard to the next, and which of them are more than chance."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tierwise._util.checks import check_path
from tierwise._util.columns import aligned, within
from tierwise._util.results import Result
from tierwise._util.types import plain_item
from tierwise.errors import InputError, listed, percent, quoted, share_in_words

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from numpy.typing import NDArray

    from tierwise._util.types import Item


class Standing(NamedTuple):
    """The part of a leaderboard that is compared with the next one.

    Attributes
    ----------
    items, tiers
        The items, best first, and their tiers.
    above
        Probability that each item is in a better tier than each other.
    """

    items: tuple[Item, ...]
    tiers: tuple[int, ...]
    above: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Change(Result):
    """The change of an item since the previous leaderboard.

    Attributes
    ----------
    item
        The item.
    tier_before, tier_now
        Its published tiers.
    steps
        The number of tiers it rose, among tiers of items on both leaderboards; negative if it fell.
    probability, other
        The largest probability that it rose above or fell below another item (for example, that it
        is now better after a tie), and that other item.
    more_than_chance
        Whether that probability reaches the certainty of the leaderboard.
    """

    item: Item
    tier_before: int
    tier_now: int
    steps: int
    probability: float
    other: Item
    more_than_chance: bool


@dataclass(frozen=True, eq=False)
class Changes(Result):
    """What changed since an earlier leaderboard; `Leaderboard.changes` makes it.

    Attributes
    ----------
    rows : tuple of Change
        The items that changed tier, or whose change is more than chance, best first.
    new, gone : tuple
        Items that are on only one of the two leaderboards.
    certainty : float
        A change is more than chance if its probability is at least this.
    n_unchanged : int
        How many items did not change.
    """

    rows: tuple[Change, ...]
    new: tuple[Item, ...]
    gone: tuple[Item, ...]
    certainty: float
    n_unchanged: int

    def summary(self, width: int = 88) -> str:
        """Return the changes for people."""
        lines = [["item", "tier before", "tier now", "P(changed)", "against", "more than chance"]]
        lines += [
            [
                str(row.item),
                str(row.tier_before),
                str(row.tier_now),
                share_in_words(row.probability),
                str(row.other),
                "yes" if row.more_than_chance else "no",
            ]
            for row in self.rows
        ]
        parts = aligned(lines, left=(0, 4)) if self.rows else ["No item changed its tier."]
        if self.new:
            parts.append(f"New: {listed(self.new)}.")
        if self.gone:
            parts.append(f"Gone: {listed(self.gone)}.")
        parts.append(
            f"{self.n_unchanged:,} did not change. More than chance: with a probability of "
            f"{percent(self.certainty)} or more. This treats the answers of the two leaderboards "
            "as independent, which is cautious if they share answers."
        )
        return within("\n".join(parts), width)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, as in JSON."""
        return {
            "rows": [
                {
                    "item": plain_item(row.item),
                    "tier_before": row.tier_before,
                    "tier_now": row.tier_now,
                    "steps": row.steps,
                    "probability": row.probability,
                    "other": plain_item(row.other),
                    "more_than_chance": row.more_than_chance,
                }
                for row in self.rows
            ],
            "new": [plain_item(item) for item in self.new],
            "gone": [plain_item(item) for item in self.gone],
            "certainty": self.certainty,
            "unchanged": self.n_unchanged,
        }


def saved_standing(previous: Mapping[str, Any] | str | PathLike[str]) -> Standing:
    """Take an earlier leaderboard from the JSON that `Leaderboard.to_json` wrote."""
    kept: Any = previous
    if not isinstance(previous, Mapping):
        path = check_path(previous)
        try:
            kept = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise InputError(
                f"the file {quoted(str(path))} does not exist: check the name and the folder"
            ) from None
        except ValueError:
            raise InputError(f"{path.name}: this is not JSON") from None
    try:
        rows, above = kept["rows"], np.array(kept["above_probabilities"], dtype=np.float64)
        items = tuple(row["item"] for row in rows)
        tiers = tuple(int(row["tier"]) for row in rows)
    except (KeyError, TypeError, ValueError):
        raise InputError(
            "this is not a leaderboard: pass a leaderboard, or the JSON that its to_json wrote"
        ) from None
    if above.shape != (len(items),) * 2:
        raise InputError(
            "the leaderboard is damaged, because its items and probabilities do "
            "not match: write it again"
        )
    return Standing(items, tiers, above)


def changes_between(now: Standing, before: Standing, certainty: float) -> Changes:
    """Compare two leaderboards item by item.

    An item is better than another, tied with it, or worse, and both leaderboards have the
    probabilities. It rose against the other if it is now better and was tied or worse, or is now
    tied and was worse.
    """
    names = [plain_item(item) for item in now.items]
    known = {plain_item(item): number for number, item in enumerate(before.items)}
    common = [number for number, name in enumerate(names) if name in known]
    others = [known[names[number]] for number in common]
    rose = _rise(now.above[np.ix_(common, common)], before.above[np.ix_(others, others)])
    tier_now = _dense([now.tiers[number] for number in common])
    tier_before = _dense([before.tiers[number] for number in others])
    rows = []
    for place, (number, old) in enumerate(zip(common, others, strict=True)):
        steps = int(tier_before[place] - tier_now[place])
        up, down = rose[place], rose[:, place]
        chances = up if steps > 0 or (steps == 0 and up.max() >= down.max()) else down
        against = int(chances.argmax())
        sure = bool(chances[against] >= certainty)
        if steps or sure:
            rows.append(
                Change(
                    item=now.items[number],
                    tier_before=before.tiers[old],
                    tier_now=now.tiers[number],
                    steps=steps,
                    probability=float(chances[against]),
                    other=now.items[common[against]],
                    more_than_chance=sure,
                )
            )
    gone = {*known} - {*names}
    return Changes(
        rows=tuple(rows),
        new=tuple(item for item in now.items if plain_item(item) not in known),
        gone=tuple(item for item in before.items if plain_item(item) in gone),
        certainty=certainty,
        n_unchanged=len(common) - len(rows),
    )


def _rise(now: NDArray[np.float64], before: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probability that each item (row) stands better against each other (column) than before."""
    tied = 1.0 - now - now.T
    was_tied = 1.0 - before - before.T
    found: NDArray[np.float64] = now * (was_tied + before.T) + tied * before.T
    np.fill_diagonal(found, 0.0)
    return found


def _dense(tiers: Sequence[int]) -> NDArray[np.int64]:
    """Count tiers from 0, without those that none of the items is in."""
    return np.unique(tiers, return_inverse=True)[1].astype(np.int64)
