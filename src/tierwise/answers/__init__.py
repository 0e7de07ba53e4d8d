"""Incomplete answers: each stands for all complete orderings that agree with it.

===================  ==========================================================================
``top.py``           lists of the best items, all others below: what is known of them
``recursive.py``     these, any distance: summed over by a recursion
``strict.py``        these, tiers of one item each and the Kendall distance: closed form
``boards.py``        these, the Hamming distance, any number of items
``interleaved.py``   lists of some items, all others anywhere: summed over by a recursion
``prefixes.py``      the same for many of them: what they have in common is computed once
``weak_orders.py``   groups of items in order, no order within groups: summed over by a recursion
``extensions.py``    any partial order with few completions: all of them are listed
``augmentation.py``  any partial order: completions are drawn
``votes.py``         pairwise answers that may be mistaken, so may contradict each other: drawn
``summed_votes.py``  these, few items: summed over
===================  ==========================================================================

``answers.py`` decides which answers are treated how; ``expectation.py`` and ``stochastic.py`` find
the best tiers and theta, ``mistakes.py`` also how often answers are mistaken, with the interval of
``mistake_profile.py``; ``imputing.py`` tells the probable places of what was not said.
"""
