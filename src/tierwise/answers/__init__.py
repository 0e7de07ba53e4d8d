"""Answers of any kind, each standing for all complete orderings that agree with it.

===================  ==========================================================================
``likelihood.py``    the one interface: ``source_of(data, distance).at(sizes)``
``given_sizes.py``   what that gives: the likelihood at given sizes, a sum over completions; of
                     battles, each an answer of its own: a closed form
``curves.py``        what answers say about theta, or several thetas, given tiers
``dispatch.py``      which answers are treated how, from sizes alone
``base.py``          completions; answers that say which items lie in which block have one
``top.py``           lists of the best items, all others below: closed forms, and the walk
``blockwise.py``     groups of items in order, others anywhere or below: one walk over blocks
``interleaved.py``   lists without ties, all other items anywhere: under inversions
``weak_orders.py``   groups of items in order, under inversions: a closed form
``partial.py``       any partial order: linear extensions, listed where they are few
``drawn.py``         any partial order: completions are drawn, by Gibbs sampling
``votes.py``         pairwise answers that may be mistaken, so may contradict each other
``generalised.py``   what answers say about each part of the distance, where each has a theta
===================  ==========================================================================
"""
