"""Rankings as people write them in a message: ``Anna: Sushi > Pizza = Tacos``, and tier lists.

Sentences such as ``Sushi first, then Pizza`` are read by `tierwise.files.sentences`.

A line is an answer, best first, with = or ~ between items that are tied and perhaps a name before a
colon. Or a line is a tier, ``S: Elden Ring, Hades``; then an empty line ends a tier list, and each
list is an answer.
"""

import re
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tierwise._util.types import Places, Unranked
from tierwise.errors import InputError, counted, quoted
from tierwise.files.csv import in_utf8
from tierwise.files.grades import LETTERS
from tierwise.files.notation import Answer, is_ranking, names_in, parse_ranking, with_new_names
from tierwise.files.options import Broken, ReadingNotes
from tierwise.files.places import (
    EncodedRankings,
    encode_orderings,
    encode_weights,
    read_sound_rows,
)
from tierwise.files.sentences import is_sentence, reader_of
from tierwise.files.source import Source
from tierwise.files.spellings import Spellings, refuse_spellings

_BEFORE_COLON = re.compile(r"\s*([^:>≻]{1,80}?)\s*:(?!//)\s*(.*)")
_TIER = re.compile(rf"\s*(?:tier\s+)?({'|'.join(LETTERS)}|\d{{1,2}})(?:[ -]tier)?\s*:\s*(.*)", re.I)
_COUNT = re.compile(r"(\d{1,9})\s*[x\N{MULTIPLICATION SIGN}*]?", re.I)
_TIMES = re.compile(r"\s*(\d{1,9}\s*[x\N{MULTIPLICATION SIGN}*])\s+(.*)", re.I)
_SEPARATORS = ",;\t"

_HEAD = 65536


def are_lines(text: str) -> bool:
    r"""Return whether a text holds rankings line by line, or tier lists, and not a table.

    Examples
    --------
    >>> are_lines("Anna: tea > milk\nBob: milk > tea\n"), are_lines("S: tea, milk\nA: water\n")
    (True, True)
    >>> are_lines("ranking\ntea > milk\n"), are_lines("a,b\n1,2\n")
    (False, False)
    """
    lines = [line.strip() for line in text.splitlines()]
    filled = [line for line in lines if line]
    if _are_sentences(filled):
        return True
    if not filled or any(line.startswith(("#", "{", "[", '"', ">")) for line in filled):
        return False
    return all(is_ranking(line) for line in filled) or _are_tier_lists(filled)


def holds_lines(source: Source) -> bool:
    """Return whether a file holds rankings line by line, by its beginning."""
    try:
        head = in_utf8(source, None)[0].head()
    except InputError:
        return False  # whoever reads the table says so better
    text = head.decode("utf-8-sig", errors="replace")
    # The last line may be cut short.
    return are_lines(text if len(head) < _HEAD else text.rpartition("\n")[0])


def _are_sentences(lines: Sequence[str]) -> bool:
    """Return whether lines are sentences, perhaps with the name of a person before each."""
    return bool(lines) and all(is_sentence(line) or is_sentence(_said(line)) for line in lines)


def _said(line: str) -> str:
    """Return a line without what stands before a colon."""
    found = _BEFORE_COLON.fullmatch(line)
    return line if found is None else found[2]


def _are_tier_lists(lines: Sequence[str]) -> bool:
    """Return whether lines are tiers, perhaps with the name of a person above each list."""
    tiers = [line for line in lines if _TIER.fullmatch(line)]
    names = [line for line in lines if not _TIER.fullmatch(line)]
    return (
        len(tiers) > 1
        and bool(_TIER.fullmatch(lines[-1]))
        and len(names) <= len(tiers) // 2
        and not any(mark in name for name in names for mark in _SEPARATORS)
        # A line "A: b" alone could be anything; a list has a tier with several items, or letters.
        and any("," in tier or ";" in tier for tier in tiers)
    )


def read_lines(
    source: Source,
    unranked: Unranked | None,
    broken: Broken = "error",
    rename: Sequence[tuple[str, str]] = (),
    spellings: Spellings = "ask",
) -> EncodedRankings:
    """Read rankings line by line, or tier lists; see `tierwise.read_rankings` for the options."""
    source, written = in_utf8(source, None)
    lines = [(number, line.strip()) for number, line in enumerate(source.text_lines(), start=1)]
    filled = [(number, line) for number, line in lines if line]
    texts = [line for _, line in filled]
    if _are_sentences(texts):
        said = [_said(line) for line in texts] if all(map(_BEFORE_COLON.match, texts)) else texts
        answers, line_of, weights, remarks = _read_rankings(filled, source, reader_of(said))
        layout = "sentences"
    elif all(map(is_ranking, texts)):
        _refuse_cells(filled, source)
        answers, line_of, weights, remarks = _read_rankings(filled, source, parse_ranking)
        layout = "lines"
    else:
        answers, line_of = _read_tier_lists(lines, source)
        weights, remarks, layout = None, (), "tier lists"

    def name_row(row: int) -> str:
        return source.line(line_of[row])

    if rename:
        answers = with_new_names(answers, dict(rename))
    line_of_name: dict[str, int] = {}
    for answer, number in zip(answers, line_of, strict=True):
        for name in names_in(answer):
            line_of_name.setdefault(name, number)
    names = list(line_of_name)
    if spellings == "ask":
        refuse_spellings(names, "item", [partial(source.line, line_of_name[one]) for one in names])
    if any(isinstance(entry, list) for answer in answers for entry in answer):
        tied = sum(any(isinstance(entry, list) for entry in answer) for answer in answers)
        what = "in a tier" if layout == "tier lists" else "with = or ~ between them"
        verb = "holds" if tied == 1 else "hold"
        remarks += (f"Items {what} are tied: {counted(tied, 'answer')} {verb} some.",)

    def read(kept: NDArray[np.int64]) -> Places:
        some = [answers[number] for number in kept.tolist()]
        return encode_orderings(some, names, lambda row: name_row(int(kept[row])))[1]

    places, kept, left_out = read_sound_rows(read, len(answers), name_row, broken)
    line_of = [line_of[number] for number in kept.tolist()]
    checked = None
    if weights is not None:
        some = [weights[number] for number in kept.tolist()]
        checked = encode_weights(some, len(some), name_row)
    notes = ReadingNotes(
        file=source.name,
        format="text",
        encoding=written,
        layout=layout,
        remarks=(*remarks, *left_out),
        n_answers=len(places),
    )
    return EncodedRankings(tuple(names), places, checked, unranked, name_row, notes)


def _read_rankings(
    lines: Sequence[tuple[int, str]], source: Source, read: Callable[[str, str], Answer]
) -> tuple[list[Answer], list[int], list[int] | None, tuple[str, ...]]:
    """Read one answer from each line."""
    before = [_TIMES.fullmatch(line) for _, line in lines]
    if not all(before):
        before = [_BEFORE_COLON.fullmatch(line) for _, line in lines]
    all_named = all(found is not None for found in before)
    if not all_named:
        _refuse_some_names(lines, before, source, read)
    answers: list[Answer] = []
    weights: list[int] | None = None
    remarks: tuple[str, ...] = ()
    for (number, line), found in zip(lines, before, strict=True):
        said = found[2] if all_named and found is not None else line
        answers.append(read(said, source.line(number)))
    if all_named:
        owners = [found[1] for found in before if found is not None]
        counts = [_COUNT.fullmatch(owner) for owner in owners]
        if all(count is not None for count in counts):
            numbers = [int(count[1]) for count in counts if count is not None]
            if numbers == list(range(1, len(numbers) + 1)) and len(numbers) > 1:
                remarks = ("The numbers before the colons are line numbers and were set aside.",)
            else:
                weights = numbers
                remarks = ("The numbers in front say how often each answer counts.",)
        else:
            remarks = ("The text before a colon says whose answer it is.",)
    return answers, [number for number, _ in lines], weights, remarks


def _refuse_cells(lines: Sequence[tuple[int, str]], source: Source) -> None:
    """Refuse lines that may be cells of a table without a header: Anna,tea > milk."""
    for mark in _SEPARATORS:
        only_before = [
            mark in line.split(">", maxsplit=1)[0] and mark not in line.split(">", maxsplit=1)[1]
            for _, line in lines
        ]
        if all(only_before):
            number, line = lines[0]
            raise InputError(
                f"{source.line(number)}: {quoted(line)} may begin with a person or an item: put "
                "the person before a colon, as in Anna: tea > milk"
            )


def _refuse_some_names(
    lines: Sequence[tuple[int, str]],
    before: Sequence[re.Match[str] | None],
    source: Source,
    read: Callable[[str, str], Answer],
) -> None:
    """Refuse names of people before some lines only, which would become parts of items."""
    plain = {
        name
        for (number, line), found in zip(lines, before, strict=True)
        if found is None
        for name in names_in(read(line, source.line(number)))
    }
    for (number, _), found in zip(lines, before, strict=True):
        if found is not None and names_in(read(found[2], source.line(number)))[0] in plain:
            raise InputError(
                f"{source.line(number)} has {quoted(found[1])} before a colon, and other lines "
                "have no colon: put a person before a colon in all lines, or in none"
            )


def _read_tier_lists(
    lines: Sequence[tuple[int, str]], source: Source
) -> tuple[list[Answer], list[int]]:
    """Read one answer from each list of tiers."""
    answers: list[Answer] = []
    line_of: list[int] = []
    known: list[str] = []
    tiers: list[tuple[int, Answer]] = []

    def finish() -> None:
        nonlocal tiers, known
        if tiers:
            best_first = sorted(tiers, key=lambda one: one[0])
            answers.append([entry for _, tier in best_first for entry in tier])
            tiers, known = [], []

    for number, line in lines:
        found = _TIER.fullmatch(line)
        if found is None:
            finish()
            continue
        sign = found[1].upper()
        if sign in known:
            raise InputError(
                f"{source.line(number)}: tier {quoted(sign)} occurs twice: put an empty line "
                "between two lists"
            )
        if not known:
            line_of.append(number)
        known.append(sign)
        mark = ";" if ";" in found[2] else ","
        names = [name.strip() for name in found[2].split(mark) if name.strip()]
        rank = int(sign) if sign.isdigit() else LETTERS.index(sign)
        if names:
            tiers.append((rank, [names if len(names) > 1 else names[0]]))
    finish()
    return answers, line_of
