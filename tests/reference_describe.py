"""Descriptions of rankings from their definitions, with loops over lists of lists."""


def rank_of(ordering, item):
    """Mean of the ranks that an item's tie takes up; None if it is not listed."""
    before = 0
    for entry in ordering:
        group = entry if isinstance(entry, list) else [entry]
        if item in group:
            return before + (len(group) + 1) / 2
        before += len(group)
    return None


def mean_rank(orderings, weights, item):
    total = weight_of_all = 0
    for ordering, weight in zip(orderings, weights, strict=True):
        rank = rank_of(ordering, item)
        if rank is not None:
            total += weight * rank
            weight_of_all += weight
    return total / weight_of_all if weight_of_all else None


def share_above(orderings, weights, first, second, unranked):
    """Share of the answers that put the first item above the second, of those that say which."""
    wins = losses = 0
    for ordering, weight in zip(orderings, weights, strict=True):
        ranks = [rank_of(ordering, first), rank_of(ordering, second)]
        if unranked == "below":
            ranks = [float("inf") if rank is None else rank for rank in ranks]
        if None in ranks:
            continue
        wins += weight * (ranks[0] < ranks[1])
        losses += weight * (ranks[0] > ranks[1])
    return wins / (wins + losses) if wins + losses else None
