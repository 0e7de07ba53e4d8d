"""What the paper says about the Tohoku sushi rankings."""

from __future__ import annotations

DISTANCES = ("kendall", "hamming")

START = (1, 1, 1, 2, 2, 3)
"""Sizes that its search starts from."""

SELECTED = {
    "kendall_likelihood": (1, 1, 1, 2, 2, 3),
    "kendall_agreement": (1, 2, 2, 5),
    "hamming_likelihood": (1, 2, 2, 2, 3),
    "hamming_agreement": (1, 2, 3, 4),
}
"""Sizes that it selects, as printed in its table."""

MEANT = (1, 1, 1, 2, 3, 2)
"""What its first selected sizes must be, by the tiers that it lists."""

CRITERION, CRITERION_SD = -3968.38, 3.74
"""Its estimate of the criterion, and the standard deviation over replicates."""

STRICT_CRITERION = -4341.95
DRAWS = 100_000
"""Draws of its importance sampling, and of its rank-cluster probabilities."""
