"""Tables that are made by rule, so that the truth is known: whatever is read must be it.

``python -m tests.files.made_tables 2000 --from 100000`` says how many of the 2,000 tables that are
numbered from 100000 on are read rightly, asked about, refused or read wrongly.
"""

import csv
import sys
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from io import BytesIO, StringIO
from itertools import combinations, pairwise, permutations
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
    "stars",
    "leaderboard",
    "battles",
    "pairs",
    "ballots",
    "sentences",
    "whole rankings",
)
ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "cp1252")
HEADERS = ("plain", "titles above", "titles and a blank line above")
MISSING = ("", "NA", "k.A.", "99", "-", "999", "-1", "-9", "N/A", "weiß nicht", "98", "don't know")
EXTRAS = ("age", "region", "Gew_Bund", "comment", "date", "Status", "id", "minutes", "birth year")
PROPERTIES = ("Params (B)", "Latency (s)", "Released", "Link", "Average", "Price ($)", "License")


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
    if missing is not None and layout in ("orderings", "ranks", "scores", "long", "stars"):
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
        extras = rng.sample(EXTRAS, rng.randint(0, 3)) if layout not in _AS_THEY_ARE else []
        for extra in extras:
            if extra in header:
                continue
            at = rng.choice([0, len(header)]) if layout not in _BY_ROWS else len(header)
            if layout in ("long", "battles", "pairs") and extra in _OF_PEOPLE:
                continue
            header = [*header[:at], extra, *header[at:]]
            rows = [[*row[:at], _extra(rng, extra, n), *row[at:]] for n, row in enumerate(rows)]
        lines = [header, *rows]
        kind = rng.choice(HEADERS)
        if kind != "plain" and len(header) > 2 and layout != "turned":
            lines = [["Umfrage 2024"], *([[]] if "blank" in kind else []), *lines]
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
        "minutes": lambda: round(rng.uniform(2, 30), 1),
        "birth year": lambda: rng.randint(1940, 2005),
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
    unit = rng.choice([3.7, 3, 0.5])
    step = unit if best == "lower" else -unit
    write = _decimal_comma if rng.random() < 0.25 else _decimal_point
    rows = [
        [
            write(round(50 + step * answer.index(item), 1)) if item in answer else missing
            for item in items
        ]
        for answer in answers
    ]
    return rows, list(items)


def _decimal_point(number):
    return f"{number:g}"


def _decimal_comma(number):
    return f"{number:g}".replace(".", ",")


def _stars(rng, items, answers, missing, options, truth):
    options["better"] = "higher"
    options.pop("unranked", None)
    rows = []
    for number, answer in enumerate(answers):
        given = {item: rng.randint(1, 5) for item in items if item in answer}
        truth[number] = {item: -stars for item, stars in given.items()}
        rows.append([given.get(item, missing) for item in items])
    return rows, list(items)


def _leaderboard(rng, items, answers, missing, options, truth):
    options["better"] = "higher"
    del answers[6:], truth[6:]
    tasks = rng.sample(
        ["MMLU", "GSM8K", "HellaSwag", "ARC", "Sprache", "Code", "Retrieval", "Logik"], len(answers)
    )
    write = _decimal_comma if rng.random() < 0.25 else _decimal_point
    scores = [
        {item: round(90 - 6.3 * place - 4.1 * task, 1) for place, item in enumerate(answer)}
        for task, answer in enumerate(answers)
    ]
    header = [rng.choice(["Model", "model", "System", "LLM", ""]), *tasks]
    rows = [[item, *(write(one[item]) for one in scores)] for item in items]
    for kind in rng.sample(PROPERTIES, rng.randint(0, 3)):
        at = rng.choice([1, len(header)])
        header.insert(at, kind)
        for row, item in zip(rows, items, strict=True):
            row.insert(at, _property(rng, kind, [one[item] for one in scores]))
    return rows, header


def _property(rng, kind, scores):
    return {
        "Params (B)": lambda: rng.choice([7, 13, 70, 8, 1.5]),
        "Latency (s)": lambda: round(rng.uniform(0.2, 9), 2),
        "Released": lambda: f"2024-0{rng.randint(1, 9)}",
        "Link": lambda: "https://example.org/model",
        "Average": lambda: round(sum(scores) / len(scores), 2),
        "Price ($)": lambda: round(rng.uniform(0.1, 15), 2),
        "License": lambda: rng.choice(["MIT", "Apache 2.0", ""]),
    }[kind]()


def _battles(rng, items, answers, missing, options, truth):
    header = rng.choice(
        [["model_a", "model_b", "winner"], ["left", "right", "winner"], ["winner", "loser"]]
    )
    words = rng.choice([("model_a", "model_b"), ("A", "B"), ("left", "right"), None])
    ties = rng.random() < 0.5 and len(header) == 3
    rows = []
    truth.clear()
    for number in range(rng.randint(20, 40)):
        # Everybody meets everybody else's neighbour once, so that all names occur.
        first, second = (
            (items[number], items[(number + 1) % len(items)])
            if number < len(items)
            else rng.sample(items, 2)
        )
        won = rng.choice([0, 0, 1, 2]) if ties else rng.choice([0, 0, 1])
        truth.append({first: int(won == 1), second: int(won == 0)})
        if len(header) == 2:
            rows.append([first, second] if won == 0 else [second, first])
        else:
            named = (words or (first, second)) if won < 2 else ("tie",) * 3
            rows.append([first, second, named[won]])
    return rows, header


def _pairs(rng, items, answers, missing, options, truth):
    rows = [
        [f"p{number}", better, worse]
        for number, answer in enumerate(answers)
        for better, worse in pairwise(answer)
    ]
    return rows, ["voter", *rng.choice([("preferred", "other"), ("winner", "loser")])]


def _ballots(rng, items, answers, missing, options, truth):
    options["unranked"] = rng.choice(["below", "anywhere"])
    rows = []
    for number, answer in enumerate(answers):
        cells, listed = list(answer), list(answer)
        # Somebody names everybody, so that all names occur.
        if number:
            at, word = rng.randrange(1, len(cells)), rng.choice(["skipped", "overvote", "blank"])
            cells[at] = word
            listed = answer[:at] if word == "overvote" else [*answer[:at], *answer[at + 1 :]]
        rows.append(cells)
        truth[number] = {item: place for place, item in enumerate(listed)}
    return rows, [f"rank{place}" for place in range(1, len(items) + 1)]


def _long(rng, items, answers, missing, options, truth):
    rows = [
        [f"p{number}", item, place + 1]
        for number, answer in enumerate(answers)
        for place, item in enumerate(answer)
    ]
    return rows, ["voter", "item", "rank"]


def _lists(rng, items, answers, missing, options, truth):
    mark = rng.choice([" > ", " | ", ", "])
    return [[f"p{number}", mark.join(a)] for number, a in enumerate(answers)], ["id", "Rang"]


def _lines(rng, items, answers, missing, options, truth):
    named = rng.random() < 0.5
    return (
        "\n".join((f"P{n}: " if named else "") + " > ".join(a) for n, a in enumerate(answers))
        + "\n",
        [],
    )


def _whole_rankings(rng, items, answers, missing, options, truth):
    """Cells such as Tee > Milch = Mate, of which some stop early."""
    rows, stops = [], rng.random() < 0.5
    if stops:
        options["unranked"] = rng.choice(["below", "anywhere"])
    for number, answer in enumerate(answers):
        said = answer[: rng.randint(2, len(answer))] if stops else answer
        text, place, truth[number] = "", 0, {}
        for at, item in enumerate(said):
            tied = at > 0 and rng.random() < 0.2 and (" > " in text or at + 1 < len(said))
            place = place if tied else at
            text += (rng.choice([" = ", " ~ "]) if tied else " > ") * (at > 0) + item
            truth[number][item] = place
        if " > " not in text:  # all are tied
            text, truth[number] = " > ".join(said), {item: at for at, item in enumerate(said)}
        rows.append([f"p{number}", text])
    return rows, ["id", "Rang"]


def _sentences(rng, items, answers, missing, options, truth):
    named, numbered = rng.random() < 0.5, rng.random() < 0.5
    lines = []
    for number, (first, *others) in enumerate(answers):
        said = f"{first} first, then {', then '.join(others)}"
        if numbered:
            said = " ".join(f"{n}. {item}" for n, item in enumerate([first, *others], start=1))
        lines.append((f"P{number}: " if named else "") + said)
    return "\n".join([*lines, ""]), []


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
        reports = [rng.randrange(len(words)) for _ in items]
        truth[number] = dict(zip(items, reports, strict=True))
        rows.append([f"p{number}", *(words[one] for one in reports)])
    if rng.random() < 0.5:
        options["order"] = ",".join(words)
    return rows, ["id", *items]


def _turned(rng, items, answers, missing, options, truth):
    rows = [[item, *(answer.index(item) + 1 for answer in answers)] for item in items]
    return rows, ["", *range(len(answers))]


# Tables without further columns, or with such columns of their own.
_AS_THEY_ARE = ("turned", "leaderboard")
# Tables with several rows per person, and what everybody has only one of.
_BY_ROWS = ("long", "battles", "pairs")
_OF_PEOPLE = ("id", "Status", "age", "Gew_Bund", "minutes", "birth year")
_BUILDERS = {
    "orderings": _orderings,
    "ranks": _ranks,
    "scores": _scores,
    "long": _long,
    "lists": _lists,
    "lines": _lines,
    "sentences": _sentences,
    "whole rankings": _whole_rankings,
    "tier lists": _tier_lists,
    "grades": _grades,
    "turned": _turned,
    "stars": _stars,
    "leaderboard": _leaderboard,
    "battles": _battles,
    "pairs": _pairs,
    "ballots": _ballots,
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
    """Return whether answers are those that the table was made of: the same items in order."""
    items = {item for answer in truth for item in answer}
    if set(found.items) != items:
        return False
    if isinstance(found, tw.Battles):
        won = dict.fromkeys(permutations(items, 2), 0.0)
        for battle in truth:
            for one, other in permutations(battle):
                won[one, other] += 0.5 + 0.5 * (battle[other] - battle[one])
        at = found.items.index
        return all(found.wins[at(one), at(other)] == n for (one, other), n in won.items())
    if isinstance(found, tw.Preferences):
        asked = [{*combinations(sorted(answer, key=answer.get), 2)} for answer in truth]
        reports = [set(found.pairs(assessor)) for assessor in found.assessors]
        return reports == asked
    if len(found) != len(truth):
        return False
    truth = [_completed(answer, items, unranked) for answer in truth]
    for places, answer in zip(found.places.tolist(), truth, strict=True):
        reports = {
            item: place for item, place in zip(found.items, places, strict=True) if place >= 0
        }
        if reports.keys() != answer.keys():
            return False
        if any(
            (reports[a] < reports[b]) != (answer[a] < answer[b])
            or (reports[a] == reports[b]) != (answer[a] == answer[b])
            for a in reports
            for b in reports
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
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("tables", type=int)
    parser.add_argument("--from", dest="first", type=int, default=0)
    wanted = parser.parse_args()
    counted, named = count(range(wanted.first, wanted.first + wanted.tables))
    sys.stdout.write("\n".join([*named, str(dict(counted)), ""]))
