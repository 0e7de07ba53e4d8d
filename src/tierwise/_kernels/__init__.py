"""Compiled loops: arrays in, arrays out, no state, no names of items.

What they compute is tested against brute force, written from the definition, in
``tests/reference*.py``.
Conventions: items, places, blocks and labels count from 0; ``labels[item]`` is the tier of an
item; ``ranks[row, item]`` is the place of an item; ``orderings[row, place]`` is the item in a
place.
"""
