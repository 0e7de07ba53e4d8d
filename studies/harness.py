"""What a study is, and how its results are kept: computed once for each seed, version, settings."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal

from tierwise import __version__
from tierwise._util.resources import whole_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from matplotlib.figure import Figure

Results = dict[str, Any]
Verdict = Literal["same", "close", "differs"]


@dataclass(frozen=True)
class Place:
    """Where a study finds data and how many processes it may use."""

    data: Path
    workers: int = 1

    def folder(self, name: str) -> Path:
        """Folder of a data set."""
        return self.data / name

    def missing(self, names: Iterable[str]) -> list[str]:
        """Return the data sets that are not at hand."""
        return [name for name in names if not self.folder(name).is_dir()]


@dataclass(frozen=True)
class Claim:
    """A number or finding of the paper, and what comes out here."""

    what: str
    paper: str
    here: str
    verdict: Verdict


def number_claim(what: str, paper: float, here: float, digits: int, *, close: float = 0.0) -> Claim:
    """Compare a number with the paper's, which has so many digits behind the point.

    Parameters
    ----------
    what
        What the number is.
    paper, here
        The paper's number and ours.
    digits
        How many digits the paper gives.
    close
        A difference up to this counts as close: the paper's own Monte Carlo error, say.
    """
    same = round(here, digits) == round(paper, digits)
    verdict: Verdict = "same" if same else "close" if abs(here - paper) <= close else "differs"
    return Claim(what, f"{paper:.{digits}f}", f"{here:.{digits}f}", verdict)


def text_claim(what: str, paper: str, here: str) -> Claim:
    """Compare something that is either the same or not."""
    return Claim(what, paper, here, "same" if paper == here else "differs")


@dataclass(frozen=True)
class Study:
    """One study: what it computes, what it draws, and what it says.

    Attributes
    ----------
    name
        As on the command line.
    title
        Heading of its section.
    full, quick
        Its settings (a dataclass with a ``seed``), for the page and for a quick run.
    compute
        From settings and a place to results: plain values that can be kept as JSON.
    tell
        From results and settings to the section's text.
    draw
        From results, and a place if the data are at hand, to figures by name.
    claims
        What the paper says, beside what the results say.
    data
        Names of the data sets it needs.
    page
        The page of the documentation that it belongs to.
    """

    name: str
    title: str
    full: Any
    quick: Any
    compute: Callable[[Any, Place], Results]
    tell: Callable[[Results, Any], str]
    draw: Callable[[Results, Place | None], Mapping[str, Figure]] = field(
        default=lambda _results, _place: {}
    )
    claims: Callable[[Results], list[Claim]] = field(default=lambda _results: [])
    data: tuple[str, ...] = ()
    page: Literal["reproduction", "simulations"] = "reproduction"


@dataclass(frozen=True)
class Outcome:
    """Results of a study as they are kept in a file."""

    study: Study
    results: Results
    settings: Any
    version: str
    seconds: float


SOURCES = {
    "arena": "the counts of Chatbot Arena's votes in the package leaderbot (battles.csv)",
    "mteb": "the tables of Muennighoff et al., MTEB (EACL 2023), as scores.csv",
    "preflib": "PrefLib, preflib.org (files .soc, .soi, .toc and .toi)",
    "sushi": (
        "T. Kamishima's page 'SUSHI Preference Data Sets' (sushi3-2016.zip: sushi3a.5000.10.order "
        "and sushi3.udata; free for research, must not be passed on)"
    ),
}


def obtain(
    study: Study, settings: Any, place: Place, folder: Path, *, again: bool = False
) -> Outcome | None:
    """Return the results of a study: stored ones if they fit, else new ones.

    None where data are missing and nothing is stored.
    """
    stored = load_stored(study, settings, folder)
    if stored is not None and not again and _fits(stored, settings):
        return stored
    if place.missing(study.data):
        return stored
    started = perf_counter()
    results = study.compute(settings, place)
    # The page is to say the same whether results are new or stored.
    seconds = round(perf_counter() - started, 3)
    outcome = Outcome(study, results, settings, __version__, seconds)
    _store(outcome, folder)
    return outcome


def _fits(stored: Outcome, settings: Any) -> bool:
    return stored.version == __version__ and stored.settings == settings


def load_stored(study: Study, settings: Any, folder: Path) -> Outcome | None:
    """Return what is stored of a study, whatever seed, version and settings made it."""
    path = folder / f"{study.name}.json"
    if not path.is_file():
        return None
    kept = json.loads(path.read_text(encoding="utf-8"))
    try:
        used = type(settings)(
            **{name: _as_tuple(value) for name, value in kept["settings"].items()}
        )
    except TypeError:
        # The study has other settings today: what is stored answers another question.
        return None
    return Outcome(study, kept["results"], used, kept["version"], kept["seconds"])


def _as_tuple(value: Any) -> Any:
    """Undo what JSON does to tuples."""
    return tuple(_as_tuple(one) for one in value) if isinstance(value, list) else value


def _store(outcome: Outcome, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{outcome.study.name}.json"
    content = {
        "study": outcome.study.name,
        "version": outcome.version,
        "settings": asdict(outcome.settings),
        "seconds": outcome.seconds,
        "results": outcome.results,
    }
    with whole_file(path) as partial:
        partial.write_text(_compact(content), encoding="utf-8")


def _compact(content: Mapping[str, Any]) -> str:
    """JSON with one line per result, so that files stay short and changes can be seen."""
    head = {name: value for name, value in content.items() if name != "results"}
    lines = [f' "{name}": {json.dumps(value)}' for name, value in head.items()]
    inner = [
        f'  "{name}": {json.dumps(value, allow_nan=False)}'
        for name, value in content["results"].items()
    ]
    lines.append(' "results": {\n' + ",\n".join(inner) + "\n }")
    return "{\n" + ",\n".join(lines) + "\n}\n"
