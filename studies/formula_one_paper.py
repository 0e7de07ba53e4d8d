"""What the paper says about the Formula 1 races of 2015 and 2016."""

from __future__ import annotations

SIZES = (1, 1, 1, 2, 3, 2, 15)
TIERS = (
    ("Hamilton",),
    ("Rosberg",),
    ("Vettel",),
    ("Raikkonen", "Ricciardo"),
    ("Bottas", "Massa", "Verstappen"),
    ("Grosjean", "Perez"),
)
STRICT_TOP_TEN = (
    "Hamilton", "Rosberg", "Vettel", "Raikkonen", "Ricciardo",
    "Bottas", "Massa", "Verstappen", "Perez", "Grosjean",
)  # fmt: skip
CRITERION = {"tiers": -1901.93, "strict": -2388.607}
"""The largest that its chains saw."""
