"""Run the studies and write the page: ``python -m studies [NAME ...] [--quick] [--data PATH]``."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from time import perf_counter

from studies import (
    collecting,
    distance_distributions,
    divided_people,
    false_tiers,
    forecasts,
    formula_one,
    held_out,
    methods_over_data_sets,
    other_truths,
    power,
    prior_of_sizes,
    pseudo_likelihood,
    rank_tiers,
    recovery,
    simulation_1,
    simulation_2,
    simulation_3,
    sizes_held_fixed,
    sushi_data,
    sushi_posterior,
    sushi_replicates,
    sushi_selection,
    what_is_said,
)
from studies.harness import SOURCES, Outcome, Place, Study, load_stored, obtain
from studies.page import section, write_page
from studies.writing import duration

ROOT = Path(__file__).resolve().parents[1]

# In the order of the pages.
STUDIES: list[Study] = [
    distance_distributions.STUDY,
    rank_tiers.STUDY,
    pseudo_likelihood.STUDY,
    simulation_1.STUDY,
    simulation_2.STUDY,
    simulation_3.STUDY,
    formula_one.STUDY,
    sushi_data.STUDY,
    sushi_selection.STUDY,
    sushi_replicates.STUDY,
    sushi_posterior.STUDY,
    what_is_said.STUDY,
    sizes_held_fixed.STUDY,
    divided_people.STUDY,
    false_tiers.STUDY,
    other_truths.STUDY,
    prior_of_sizes.STUDY,
    power.STUDY,
    collecting.STUDY,
    forecasts.STUDY,
    methods_over_data_sets.STUDY,
    recovery.STUDY,
    held_out.STUDY,
]


def main(arguments: list[str] | None = None) -> None:
    """Run what is asked for, and write the page from all there is."""
    options = _options(arguments)
    place = Place(options.data, options.workers)
    # A quick run must not take the place of what is stored.
    home = options.out or (ROOT / "build" / "studies" if options.quick else ROOT)
    stored = home / "studies" / "results"
    wanted = options.names or [study.name for study in STUDIES]
    outcomes: dict[str, Outcome] = {}
    for study in STUDIES:
        settings = study.quick if options.quick else study.full
        if study.name in wanted:
            outcome = _run(study, settings, place, stored, again=options.again)
        else:
            outcome = load_stored(study, settings, stored)
        if outcome is not None:
            outcomes[study.name] = outcome
    page = write_page(STUDIES, outcomes, place, home / "docs", redraw=wanted)
    for name in options.names:
        if name in outcomes:
            print(f"\n{section(outcomes[name])}\n")
    print(f"wrote {page}")


def _run(
    study: Study, settings: object, place: Place, stored: Path, *, again: bool
) -> Outcome | None:
    started = perf_counter()
    outcome = obtain(study, settings, place, stored, again=again)
    took = duration(perf_counter() - started)
    missing = place.missing(study.data)
    if missing:
        what = "skipped" if outcome is None else "taken from the stored results"
        sources = "; ".join(SOURCES[name] for name in missing)
        print(f"{study.name}: {what}; the data are not at hand: get them from {sources}")
    else:
        print(f"{study.name}: done after {took}", flush=True)
    return outcome


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m studies", description=__doc__)
    names = [study.name for study in STUDIES]
    parser.add_argument("names", nargs="*", metavar="NAME", help="one of " + ", ".join(names))
    parser.add_argument("--quick", action="store_true", help="small variants, under build/studies")
    parser.add_argument("--again", action="store_true", help="compute even what is stored")
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(os.environ.get("TIERWISE_DATA", ROOT.parent / "shared" / "data")),
        help="folder that holds the folders " + ", ".join(SOURCES),
    )
    parser.add_argument("--out", type=Path, help="folder to write to, instead of the project")
    parser.add_argument(
        "--workers", type=int, default=os.cpu_count() or 1, help="processes (all cores)"
    )
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.names) - set(names))
    if unknown:
        parser.error(f"there is no study {unknown[0]!r}: choose from {', '.join(names)}")
    return options


if __name__ == "__main__":
    main()
