"""What the methods for some distances and sizes only are for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from tierwise.distances import Distance
    from tierwise.tiers import Sizes

SpecialMethod: TypeAlias = Literal["closed", "lines", "rook", "recursion", "anchored"]

SCOPES: dict[SpecialMethod, str] = {
    "closed": "the kendall distance and tiers of one item each",
    "lines": "the inversions distance",
    "rook": "the hamming distance",
    "recursion": "distances that compare blocks of the tiers' sizes",
    "anchored": "the kendall distance",
}


def is_for(method: SpecialMethod, sizes: Sizes, distance: Distance) -> bool:
    """Return whether a method is for tiers of given sizes and a distance.

    Examples
    --------
    >>> from tierwise.distances import get_distance
    >>> kendall = get_distance("kendall")
    >>> is_for("closed", (1, 1), kendall), is_for("rook", (1, 1), kendall)
    (True, False)
    """
    if method == "recursion":
        return distance.blocks(sizes) == sizes
    rule = distance.rule(sizes)
    if method == "rook":
        rule = rule.in_largest_units()
        return rule.additive and bool((rule.placing == 1 - np.eye(len(sizes))).all())
    only_pairs = rule.misplaced > 0 and not rule.placing.any()
    if method == "closed":
        return only_pairs and max(sizes) == 1
    if method == "lines":
        return only_pairs and rule.tied == 0 and max(distance.blocks(sizes)) == 1
    return only_pairs and rule.tied == rule.misplaced and distance.blocks(sizes) == sizes
