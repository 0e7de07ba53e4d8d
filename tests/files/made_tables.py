"""Tables that are made by rule, so that the truth is known: whatever is read must be it.

``python -m tests.files.made_tables 2000`` says how many are read rightly, asked about, refused or
read wrongly.
"""

import csv
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from io import BytesIO, StringIO
from random import Random
from typing import Any

import tierwise as tw
from tierwise.errors import InputError

ITEMS = ("Tee", "Kaffee", "Milch", "Säfte", "Wasser", "Mate", "Limonade, süß", "Cola")
LAYOUTS = (
    "orderings",
    "ranks",
    "scores",
    "long",
    "lists",
    "lines",
    "tier lists",
    "grades",
    "turned",
)
ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "cp1252")
HEADERS = ("plain", "titles above")
MISSING = ("", "NA", "k.A.", "99", "-")
EXTRAS = ("age", "region", "Gew_Bund", "comment", "date", "Status", "id")


@dataclass(frozen=True)
class Made:
    """A table as bytes, the options that are said with it, and the places that it holds."""

    content: bytes
    options: dict[str, Any]
    truth: list[dict[str, int]]
    how: str


def make(number: int) -> Made:
    """Make the table of a number."""
    rng = Random(number)
    layout = rng.choice(LAYOUTS)
    items = rng.sample(ITEMS, rng.randint(3, 6))
    separator = rng.choice(",;\t")
    encoding = rng.choice(ENCODINGS)
    missing = rng.choice(MISSING) if rng.random() < 0.4 else None
    n_answers = rng.randint(6, 15)
    answers = [rng.sample(items, len(items)) for _ in range(n_answers)]
    options: dict[str, Any] = {}
    if missing is not None and layout in ("orderings", "ranks", "scores", "long"):
        # Only the last is left out: so some are listed by everybody, and codes stand out.
        answers = [
            answer[: rng.randint(2, len(items))] if rng.random() < 0.4 else answer
            for answer in answers
        ]
        options["unranked"] = rng.choice(["below", "anywhere"])
    truth = [{item: place for place, item in enumerate(answer)} for answer in answers]
    rows, header = _BUILDERS[layout](rng, items, answers, missing or "", options, truth)
    if isinstance(rows, str):
        text = rows
    else:
        extras = rng.sample(EXTRAS, rng.randint(0, 3)) if layout != "turned" else []
        for extra in extras:
            if extra in header:
                continue
            at = rng.choice([0, len(header)]) if layout != "long" else len(header)
            if layout == "long" and extra in ("id", "Status", "age", "Gew_Bund"):
                continue
            header = [*header[:at], extra, *header[at:]]
            rows = [[*row[:at], _extra(rng, extra, n), *row[at:]] for n, row in enumerate(rows)]
        lines = [header, *rows]
        kind = rng.choice(HEADERS)
        if kind == "titles above" and len(header) > 2 and layout != "turned":
            lines = [["Umfrage 2024"], *lines]
        written = StringIO()
        csv.writer(
            written, delimiter=separator, lineterminator=rng.choice(["\n", "\r\n"])
        ).writerows(lines)
        text = written.getvalue()
    return Made(text.encode(encoding), options, truth, f"{layout}, {encoding}, {separator!r}")


def _extra(rng: Random, kind: str, number: int) -> Any:
    return {
        "age": lambda: rng.randint(18, 80),
        "region": lambda: rng.choice(["Nord", "Süd", "West"]),
        "Gew_Bund": lambda: round(rng.uniform(0.3, 2.5), 3),
        "comment": lambda: rng.choice(["", "gut", "weiß nicht so recht", "bitte mehr davon"]),
        "date": lambda: f"2024-0{rng.randint(1, 9)}-1{rng.randint(0, 9)}",
        "Status": lambda: "IP Address",
        "id": lambda: f"p{number}",
    }[kind]()


def _orderings(rng, items, answers, missing, options, truth):
    header = [f"place {place}" for place in range(1, len(items) + 1)]
    return [[*answer, *[missing] * (len(items) - len(answer))] for answer in answers], header


def _ranks(rng, items, answers, missing, options, truth):
    rows = [
        [answer.index(item) + 1 if item in answer else missing for item in items]
        for answer in answers
    ]
    return rows, list(items)


def _scores(rng, items, answers, missing, options, truth):
    best = rng.choice(["higher", "lower"])
    options["better"] = best
    options.pop("unranked", None)
    step = 1 if best == "lower" else -1
    rows = [
        [
            round(50 + step * 3.7 * answer.index(item), 1) if item in answer else missing
            for item in items
        ]
        for answer in answers
    ]
    return rows, list(items)


def _long(rng, items, answers, missing, options, truth):
    rows = [
        [f"p{number}", item, place + 1]
        for number, answer in enumerate(answers)
        for place, item in enumerate(answer)
    ]
    return rows, ["voter", "item", "rank"]


def _lists(rng, items, answers, missing, options, truth):
    mark = rng.choice([">", "|"])
    return [[f"p{number}", f" {mark} ".join(a)] for number, a in enumerate(answers)], ["id", "Rang"]


def _lines(rng, items, answers, missing, options, truth):
    named = rng.random() < 0.5
    return (
        "\n".join((f"P{n}: " if named else "") + " > ".join(a) for n, a in enumerate(answers))
        + "\n",
        [],
    )


def _tier_lists(rng, items, answers, missing, options, truth):
    texts = []
    for number, answer in enumerate(answers):
        cut = rng.randint(2, len(answer) - 1)
        truth[number] = {item: 0 if place < cut else 1 for place, item in enumerate(answer)}
        texts.append(f"S: {'; '.join(answer[:cut])};\nB: {'; '.join(answer[cut:])};\n")
    return "\n".join(texts), []


def _grades(rng, items, answers, missing, options, truth):
    words = rng.choice(
        [("S", "A", "B", "C"), ("A+", "A", "B-", "F"), ("agree", "neutral", "disagree")]
    )
    rows = []
    for number in range(len(answers)):
        told = [rng.randrange(len(words)) for _ in items]
        truth[number] = dict(zip(items, told, strict=True))
        rows.append([f"p{number}", *(words[one] for one in told)])
    if rng.random() < 0.5:
        options["order"] = ",".join(words)
    return rows, ["id", *items]


def _turned(rng, items, answers, missing, options, truth):
    rows = [[item, *(answer.index(item) + 1 for answer in answers)] for item in items]
    return rows, ["", *range(len(answers))]


_BUILDERS = {
    "orderings": _orderings,
    "ranks": _ranks,
    "scores": _scores,
    "long": _long,
    "lists": _lists,
    "lines": _lines,
    "tier lists": _tier_lists,
    "grades": _grades,
    "turned": _turned,
}


def outcome(made: Made) -> str:
    """Say what comes of a table: read, asked, refused or wrong."""
    try:
        found = tw.read(BytesIO(made.content), **made.options)
    except InputError as error:
        return "asked" if any(not isinstance(one, str) for one in error.remedies) else "refused"
    return "read" if _same(found, made.truth, made.options.get("unranked")) else "wrong"


def _completed(answer: dict[str, int], items: set[str], unranked: str | None) -> dict[str, int]:
    """Add the one item that is not listed, where it must be the last."""
    left = items - answer.keys()
    return (
        answer | {one: len(items) for one in left}
        if unranked == "below" and len(left) == 1
        else answer
    )


def _same(found: Any, truth: list[dict[str, int]], unranked: str | None) -> bool:
    """Tell whether rankings are those that the table was made of: the same items in order."""
    if not isinstance(found, tw.Rankings) or len(found) != len(truth):
        return False
    items = {item for answer in truth for item in answer}
    if set(found.items) != items:
        return False
    truth = [_completed(answer, items, unranked) for answer in truth]
    for places, answer in zip(found.places.tolist(), truth, strict=True):
        told = {item: place for item, place in zip(found.items, places, strict=True) if place >= 0}
        if told.keys() != answer.keys():
            return False
        if any(
            (told[a] < told[b]) != (answer[a] < answer[b])
            or (told[a] == told[b]) != (answer[a] == answer[b])
            for a in told
            for b in told
        ):
            return False
    return True


def count(numbers: Iterable[int]) -> tuple[Counter[str], list[str]]:
    """Count what comes of tables, and name those that are read wrongly or refused."""
    found: Counter[str] = Counter()
    named = []
    for number in numbers:
        made = make(number)
        came = outcome(made)
        found[came] += 1
        if came in ("wrong", "refused"):
            named.append(f"{came}: table {number}, {made.how}, {made.options}")
    return found, named


if __name__ == "__main__":
    counted, named = count(range(int(sys.argv[1])))
    sys.stdout.write("\n".join([*named, str(dict(counted)), ""]))
