"""Draw the picture at the top of README.md: Formula 1 drivers of 2015 and 2016, ranked and tiered.

``python docs/readme_picture.py`` writes ``docs/figures/readme-tiers.svg``. The results are those of
the f1db project, CC BY 4.0.
"""

import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

from matplotlib import pyplot as plt

import tierwise as tw
from tierwise import plots

PICTURE = Path(__file__).parent / "figures" / "readme-tiers.svg"


def draw(path: Path) -> None:
    """Find the tiers and draw them beside the ranks."""
    board = tw.leaderboard(tw.load_f1(), rng=1)
    settings = {"svg.fonttype": "none", "svg.hashsalt": "tierwise", "font.family": "sans-serif"}
    with mpl.rc_context(settings):
        figure, (ranks, tiers) = plt.subplots(1, 2, figsize=(11, 6.2), width_ratios=(1, 3))
        _list_ranks(ranks, [row.item for row in sorted(board.rows, key=lambda row: row.mean_rank)])
        plots.tier_list(board, ax=tiers)
        ranks.set_title("ranked", loc="left")
        tiers.set_title("in tiers", loc="left")
        figure.savefig(path, bbox_inches="tight", metadata={"Date": None})


def _list_ranks(ax: plt.Axes, items: list[object]) -> None:
    """Write the items below each other, each with its rank."""
    ax.set_ylim(len(items) + 0.5, 0.5)
    ax.axis("off")
    for number, item in enumerate(items, start=1):
        ax.text(0.12, number, f"{number}.", ha="right", va="center", color="0.4", fontsize=9)
        ax.text(0.16, number, str(item), va="center", fontsize=9)


if __name__ == "__main__":
    draw(Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURE)
