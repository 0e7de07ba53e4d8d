"""Answers of any kind, each standing for all complete orderings that agree with it.

===================  ==========================================================================
``likelihood.py``    the one interface: ``source_of(data, distance).at(sizes)``
``dispatch.py``      which answers are treated how, from sizes alone
``known.py``         answers that say which items lie in which block, such as complete rankings
``top.py``           lists of the best items, all others below: closed forms
``recursive.py``     these, any distance: summed over by a recursion over items left
``interleaved.py``   lists of some items, all others anywhere: summed over by a recursion
``prefixes.py``      the same for many of them: what they have in common is computed once
``weak_orders.py``   groups of items in order, no order within groups: summed over by a recursion
``partial.py``       any partial order: linear extensions, listed where they are few
``drawn.py``         any partial order: completions are drawn, by Gibbs sampling
``augmentation.py``  one completion per person, for chains
``votes.py``         pairwise answers that may be mistaken, so may contradict each other
``observing.py``     makes complete rankings incomplete in the way that others are
===================  ==========================================================================
"""
