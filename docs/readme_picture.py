"""Draw the picture at the top of README.md: the tiers of the Formula 1 drivers of 2015 and 2016.

``python docs/readme_picture.py`` writes ``docs/figures/readme-tiers.svg``. The results are those of
the f1db project, CC BY 4.0.
"""

import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import tierwise as tw
from tierwise import plots

PICTURE = Path(__file__).parent / "figures" / "readme-tiers.svg"


def draw(path: Path) -> None:
    """Find the tiers and draw them."""
    races = tw.load_f1()
    best = tw.search(races, "inversions", rng=1).best
    sure = tw.bootstrap(races, best, replicates=200, rng=1)
    settings = {"svg.fonttype": "none", "svg.hashsalt": "tierwise", "font.family": "sans-serif"}
    with mpl.rc_context(settings):
        ax = plots.tier_list(best, sure)
        ax.figure.savefig(path, bbox_inches="tight", metadata={"Date": None})


if __name__ == "__main__":
    draw(Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURE)
