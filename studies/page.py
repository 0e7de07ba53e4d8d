"""The pages, one section per study: the paper's numbers, findings first; our simulations."""

from __future__ import annotations

from collections import Counter as Tally
from typing import TYPE_CHECKING

from studies.findings import findings
from studies.harness import SOURCES, Outcome, Place, Study
from studies.writing import duration, paragraphs, table
from tierwise._util.resources import whole_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from matplotlib.figure import Figure

INTRODUCTION = """
# The paper, reproduced

This page computes the numbers of Piancastelli and Friel, *Clustered Mallows Model*, again: with the
paper's own methods (annealing, theta by simulation, importance sampling, the exchange algorithm)
and with exact ones. `python -m studies` writes it and draws the figures; no number here is typed by
hand. The paper's values stand in the scripts, beside ours.

The model is a fine idea, and most of the paper's numbers come out as printed. Where they do not,
we say why as far as we can tell. One reason recurs: the paper takes the partition function to be
intractable and estimates it, while it can be computed exactly (see `tierwise.log_partition`).
"""

SIMULATIONS = """
# How often is it right?

Most studies on this page use made-up data, so the truth is known. The last one asks which models
predict real answers that they have not seen. `python -m studies` writes this page; the name below
each title runs one study. No number here is typed by hand.
"""


def write_page(
    studies: Iterable[Study],
    outcomes: Mapping[str, Outcome],
    place: Place,
    folder: Path,
    *,
    redraw: Iterable[str],
) -> Path:
    """Write both pages and the figures of studies that were run; return the paper's page."""
    folder.mkdir(parents=True, exist_ok=True)
    wanted = set(redraw)
    parts = {
        "reproduction": [
            INTRODUCTION,
            _running(),
            "## Findings",
            findings(outcomes),
            _claims(outcomes),
        ],
        "simulations": [SIMULATIONS],
    }
    for study in studies:
        outcome = outcomes.get(study.name)
        if outcome is None:
            parts[study.page].append(_missing(study))
            continue
        if study.name in wanted:
            draw_figures(outcome, place, folder / "figures")
        parts[study.page].append(section(outcome))
    for page, written in parts.items():
        with whole_file(folder / f"{page}.md") as partial:
            partial.write_text(paragraphs(*written) + "\n", encoding="utf-8")
    return folder / "reproduction.md"


def _running() -> str:
    sources = "\n".join(f"- {name}: {source}." for name, source in SOURCES.items())
    return paragraphs(
        "`make studies` (or `python -m studies --data FOLDER`) runs everything. Results are kept "
        "in `studies/results` by seed, version and settings, and are not computed twice. "
        "`python -m studies NAME` runs one study and prints its section; `--quick` runs small "
        "variants of all. Some data are not part of the project. Put them into folders with these "
        "names, and give the folder that holds them with `--data` or in the environment variable "
        "`TIERWISE_DATA`:",
        sources,
        "Without them the page is built from the stored results.",
    )


def _claims(outcomes: Mapping[str, Outcome]) -> str:
    """Every number of the paper that is checked, in one table."""
    rows = []
    verdicts: Tally[str] = Tally()
    for outcome in outcomes.values():
        for claim in outcome.study.claims(outcome.results):
            verdicts[claim.verdict] += 1
            rows.append(
                [
                    claim.what,
                    claim.paper,
                    claim.here,
                    claim.verdict,
                    f"`python -m studies {outcome.study.name}`",
                ]
            )
    return paragraphs(
        "## Number by number",
        f"Of {sum(verdicts.values())} numbers and statements, {verdicts['same']} come out the same "
        f"to the digit printed, {verdicts['close']} within the paper's own Monte Carlo error "
        f"(close), and {verdicts['differs']} differ.",
        table(["what", "paper", "here", "", "shown by"], rows),
    )


def _missing(study: Study) -> str:
    return paragraphs(
        f"## {study.title}",
        f"Not run: it needs the {' and '.join(study.data)} data."
        if study.data
        else f"Not run: `python -m studies {study.name}` does.",
    )


def section(outcome: Outcome) -> str:
    """Return the section of a study."""
    study = outcome.study
    return paragraphs(
        f"## {study.title}",
        f"`python -m studies {study.name}` (tierwise {outcome.version}, seed "
        f"{outcome.settings.seed}; took {duration(outcome.seconds)})",
        study.tell(outcome.results, outcome.settings),
    )


def draw_figures(outcome: Outcome, place: Place, folder: Path) -> None:
    """Draw the figures of a study; those that need data only if they are at hand."""
    import matplotlib as mpl

    study = outcome.study
    at_hand = not place.missing(study.data)
    # The same figure is the same file, whoever draws it and when.
    with mpl.rc_context({"svg.hashsalt": "tierwise", "svg.fonttype": "none"}):
        mpl.use("agg")
        for name, figure in study.draw(outcome.results, place if at_hand else None).items():
            _save(figure, folder / f"{name}.svg")


def _save(figure: Figure, path: Path) -> None:
    from matplotlib import pyplot as plt

    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as partial:
        figure.savefig(partial, format="svg", metadata={"Date": None})
    plt.close(figure)
