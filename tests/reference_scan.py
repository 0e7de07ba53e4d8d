"""Counting rankings by their definition, row by row."""

from collections import Counter


def place_counts(orderings, items):
    """How often each item has each place."""
    counted = Counter((item, place) for row in orderings for place, item in enumerate(row))
    return [[counted[item, place] for place in range(len(items))] for item in items]


def precedence(orderings, items, sizes):
    """How often each item lies in an earlier block of places than each other."""
    block_of_place = [block for block, size in enumerate(sizes) for _ in range(size)]
    blocks = [{item: block_of_place[place] for place, item in enumerate(row)} for row in orderings]
    return [[sum(row[a] < row[b] for row in blocks) for b in items] for a in items]


def joint_count(orderings, first, first_place, second, second_place):
    """How often two items have two places."""
    return sum(row[first_place] == first and row[second_place] == second for row in orderings)
