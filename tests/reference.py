"""The model by brute force, written from the definitions; nothing here uses the package.

Orderings are tuples of items 0..n-1, best first; tiers are a tuple of labels, 0 being the best.
"""

from itertools import permutations
from math import exp, fsum, log


def labels_of(sizes):
    """Labels of items that are listed tier by tier."""
    return tuple(label for label, size in enumerate(sizes) for _ in range(size))


def blocks(ordering, sizes):
    """Block of each item."""
    block_of_place = labels_of(sizes)
    return {item: block_of_place[place] for place, item in enumerate(ordering)}


def hamming(ordering, labels, sizes):
    block = blocks(ordering, sizes)
    return sum(block[item] != label for item, label in enumerate(labels))


def kendall(ordering, labels, sizes):
    block = blocks(ordering, sizes)
    return sum(
        labels[first] >= labels[second]
        for first in block
        for second in block
        if block[first] < block[second]
    )


def inversions(ordering, labels, sizes):
    places = range(len(ordering))
    return sum(
        labels[ordering[later]] < labels[ordering[earlier]]
        for earlier in places
        for later in places
        if earlier < later
    )


def parts(ordering, labels, sizes, name, concentration, n_parts):
    """Distance by parts: of each block of places, or of each tier."""
    block = blocks(ordering, sizes)
    place = {item: place for place, item in enumerate(ordering)}
    found = [0] * n_parts
    for first in ordering:
        for second in ordering:
            if name == "kendall":
                wrong = block[first] < block[second] and labels[first] >= labels[second]
            else:
                wrong = place[first] < place[second] and labels[first] > labels[second]
            if wrong and concentration == "place":
                found[place[first] if name == "inversions" else block[first]] += 1
            elif wrong:
                found[min(labels[first], labels[second])] += 1
    return found


def _mean_place(tier, sizes):
    places = [place for place, block in enumerate(labels_of(sizes)) if block == tier]
    return sum(places) / len(places)


def footrule(ordering, labels, sizes):
    block = blocks(ordering, sizes)
    return sum(
        abs(_mean_place(block[item], sizes) - _mean_place(label, sizes))
        for item, label in enumerate(labels)
    )


def spearman(ordering, labels, sizes):
    block = blocks(ordering, sizes)
    return sum(
        (_mean_place(block[item], sizes) - _mean_place(label, sizes)) ** 2
        for item, label in enumerate(labels)
    )


DISTANCES = {
    "kendall": kendall,
    "inversions": inversions,
    "hamming": hamming,
    "footrule": footrule,
    "spearman": spearman,
}
# Those that cut the places of an ordering into blocks as large as the tiers.
BLOCK_DISTANCES = tuple(name for name in DISTANCES if name != "inversions")


class BruteForce:
    """Everything about the model from a list of all orderings and their distances."""

    def __init__(self, sizes, distance, labels=None):
        self.sizes = sizes
        self.labels = labels_of(sizes) if labels is None else labels
        self.orderings = list(permutations(range(sum(sizes))))
        self.distances = [
            DISTANCES[distance](ordering, self.labels, sizes) for ordering in self.orderings
        ]

    def weights(self, theta):
        return [exp(-theta * distance) for distance in self.distances]

    def log_partition(self, theta):
        return log(fsum(self.weights(theta)))

    def probabilities(self, theta):
        weights = self.weights(theta)
        total = fsum(weights)
        return [weight / total for weight in weights]

    def mean(self, theta):
        pairs = zip(self.probabilities(theta), self.distances, strict=True)
        return fsum(probability * distance for probability, distance in pairs)

    def variance(self, theta):
        mean = self.mean(theta)
        pairs = zip(self.probabilities(theta), self.distances, strict=True)
        return fsum(probability * (distance - mean) ** 2 for probability, distance in pairs)

    def counts(self):
        """Number of orderings at each distance."""
        found = {}
        for distance in self.distances:
            found[distance] = found.get(distance, 0) + 1
        return dict(sorted(found.items()))

    def rank_tiers(self, theta):
        """Probability of each tier (column) in each place (row)."""
        table = [[0.0] * len(self.sizes) for _ in self.labels]
        for ordering, probability in zip(self.orderings, self.probabilities(theta), strict=True):
            for place, item in enumerate(ordering):
                table[place][self.labels[item]] += probability
        return table


def pseudo_likelihood(ordering, labels, theta):
    """Probability of an ordering under the pseudo-likelihood."""
    left = list(range(len(labels)))
    probability = 1.0
    for item in ordering:
        counts = {}
        for other in left:
            counts[labels[other]] = counts.get(labels[other], 0) + 1
        best = min(counts)
        weights = {
            label: 1.0 if label == best else exp(-theta * count) for label, count in counts.items()
        }
        chosen = labels[item]
        probability *= weights[chosen] / sum(weights.values()) / counts[chosen]
        left.remove(item)
    return probability
