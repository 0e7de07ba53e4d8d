"""Evaluate every size vector there is."""

from tierwise.searching.exploration import Exploration


def search_all(exploration: Exploration) -> None:
    """Evaluate all candidates; there is no path to speak of."""
    exploration.evaluate(exploration.space, "all sizes")
