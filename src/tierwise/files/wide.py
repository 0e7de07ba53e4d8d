"""Which columns hold the answers of a table with one row per answer, and which are set aside."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import numpy as np

from tierwise._util.names import split_names
from tierwise._util.types import Item, RowNamer, numbered_row
from tierwise.errors import InputError, Remark, instead, quoted, use
from tierwise.files.cells import (
    ABSENT,
    are_numbered_places,
    encode,
    is_not_ranked,
    numbers,
    pattern_of_places,
    place_in_title,
    place_within_title,
    questions,
    read_number,
    share_of_numbers,
    split_question,
    without_question,
)
from tierwise.files.missing import refuse_codes
from tierwise.files.options import Aside, TableLayout, TableOptions
from tierwise.files.screening import (
    Screened,
    are_rankings,
    are_strict_rankings,
    are_turned_rankings,
    doubts_about_ranks,
    no_ranks,
    refuse_scores,
    scores_instead,
    screen_ranks,
    screen_scores,
)

if TYPE_CHECKING:
    import pyarrow as pa

# What the columns of battles are called in most files.
_OF_BATTLES = ({"model_a", "model_b", "winner"}, {"left", "right", "winner"})
SAMPLE_ROWS = 1000
# Up to so many answers may have no item in common.
_FEW_ROWS = 3
# What says which of two items was chosen.
_SIDES = frozenset(("a", "b", "1", "2", "left", "right", "first", "second"))
# What titles of scores say, rather than of ranks.
_OF_POINTS = re.compile(
    r"\b(?:points?|scores?|punkte?|bewertung(?:en)?|ratings?|puntos|punti)\b", re.I
)
# A number, and what it means: 5 (very much).
_LABELLED = re.compile(r"\d+\W+\w.*")
_ONE_ROW_PER_ITEM = use(
    "if it has one row for each item of each answer", assessor=..., item=..., rank=...
)
_NOT_CHOSEN = "is not among the items given"
_NO_PLACE = "does not name a place"
_EMPTY = "is empty"
_TEXT = "holds text, not ranks"


@dataclass(frozen=True)
class Wide:
    """What `choose_columns` finds; see `tierwise.files.layouts.Roles`."""

    layout: TableLayout
    cells: tuple[int, ...]
    names: tuple[Item, ...] = ()
    aside: tuple[Aside, ...] = ()
    remarks: tuple[Remark | str, ...] = ()


def choose_columns(
    columns: Sequence[Item],
    table: "pa.Table",
    sample: "pa.Table",
    options: TableOptions,
    taken: Sequence[int | None],
) -> Wide:
    """Find the columns of ranks, or of items in order of places.

    Parameters
    ----------
    columns
        What all columns are called.
    table, sample
        The table as far as it was read, and its first rows.
    options
        What the user says.
    taken
        The columns that are for something else: weights, and whose answer it is.
    """
    seen = _Seen(columns, table, sample, options)
    free = tuple(column for column in range(len(columns)) if column not in taken)
    named = free if options.pattern is None else seen.matching(options.pattern)
    by_place = options.layout == "orderings" or (
        options.layout == "auto" and seen.places(named) is not None
    )
    if options.missing is None and not by_place:
        seen.ask_about_codes(free)
    if options.pattern is not None:
        return seen.chosen(named, free)
    given = seen.given(free)
    if given is not None:
        return seen.chosen(given, free)
    if options.better is not None:
        return seen.scores(free)
    if options.layout == "ranks":
        return seen.ranks(free)
    places = seen.places(free)
    if places is not None:
        return seen.wide("orderings", places, free, _NO_PLACE)
    whole = options.layout == "orderings"
    return seen.wide("orderings", free, free, "") if whole else seen.recognised(free)


@dataclass(frozen=True)
class _Seen:
    """A table, and what the user says of it."""

    columns: Sequence[Item]
    table: "pa.Table"
    sample: "pa.Table"
    options: TableOptions

    @property
    def titles(self) -> list[str]:
        return [str(column).strip() for column in self.columns]

    def share(self, cells: Sequence[int]) -> float:
        """Return which share of the cells are numbers."""
        return share_of_numbers(self.sample.column(cell) for cell in cells)

    def is_empty(self, column: int) -> bool:
        """Return whether a column holds nothing, or only says that nothing is ranked."""
        # Nearly always the first rows tell.
        return all(
            all(map(is_not_ranked, _words(table.column(column))))
            for table in (self.sample, self.table)
        )

    def named(self, cells: Sequence[int]) -> list[str]:
        return [self.titles[cell] for cell in cells]

    def wide(
        self, layout: TableLayout, cells: Sequence[int], free: Sequence[int], why: str
    ) -> Wide:
        """Set aside, for one reason, what is free and holds no answers."""
        aside = tuple(Aside(self.titles[one], why) for one in free if one not in cells)
        return self.with_names(Wide(layout, tuple(cells), aside=aside))

    def with_names(self, wide: Wide) -> Wide:
        """Name the items of a table of ranks, without the question that all titles begin with."""
        if wide.layout != "ranks":
            return wide
        wide = replace(wide, remarks=(*wide.remarks, *self.doubts(wide.cells)))
        titles = tuple(self.columns[cell] for cell in wide.cells)
        short = without_question(titles)
        given = {str(item) for item in self.options.items or ()}
        if short is None or (given and given.issuperset(self.named(wide.cells))):
            return Wide("ranks", wide.cells, titles, wide.aside, wide.remarks)
        remark = f"All titles begin with {quoted(short[0])}, which is left out of the items' names."
        return Wide("ranks", wide.cells, short[1], wide.aside, (*wide.remarks, remark))

    def doubts(self, cells: Sequence[int]) -> tuple[Remark, ...]:
        """Say which columns of ranks might be something else, unless the user names the items."""
        options = self.options
        said = options.items is not None or options.pattern is not None
        if said or options.better is not None or any(self.share([cell]) < 1 for cell in cells):
            return ()
        ranks = options.layout == "ranks"
        if not ranks and all(_OF_POINTS.search(self.titles[cell]) for cell in cells):
            raise scores_instead(self.values(cells), self.named(cells), range(len(cells)))
        return doubts_about_ranks(self.values(cells), self.named(cells), said=ranks)

    def matching(self, pattern: str) -> tuple[int, ...]:
        """Return the columns that a pattern such as ``Q1_*`` or a list of them means."""
        parts = split_names(pattern)
        found = []
        for part in parts:
            fitting = [
                column
                for column, title in enumerate(self.titles)
                if title == part or fnmatchcase(title, part)
            ]
            if not fitting:
                raise InputError(
                    f"no column is named {quoted(part)}: the columns are {listed(self.titles)}"
                )
            found += [column for column in fitting if column not in found]
        return tuple(found)

    def given(self, free: Sequence[int]) -> tuple[int, ...] | None:
        """Return the columns that are called as the items that the user names, if all are there."""
        if self.options.items is None or self.options.layout == "orderings":
            return None
        position = {self.titles[column]: column for column in free}
        for column in free:
            parts = split_question(self.titles[column])
            if parts is not None:
                position.setdefault(parts[1], column)
        wanted = [str(item) for item in self.options.items]
        if not set(wanted) <= position.keys():
            return None
        cells = tuple(position[item] for item in wanted)
        numeric = self.options.layout == "ranks" or self.share(cells) >= 0.5
        return cells if numeric and len(set(cells)) == len(cells) else None

    def chosen(self, cells: tuple[int, ...], free: Sequence[int]) -> Wide:
        """Take the columns that the user names."""
        layout = self.options.layout
        if layout == "auto":
            ranked = self.options.better is not None or self.share(cells) >= 0.5
            layout = "ranks" if ranked else "orderings"
        if layout == "orderings":
            cells = self.places(cells) or cells
        elif self.options.better is None and self.options.layout == "auto":
            numeric = [cell for cell in cells if self.share([cell]) == 1]
            refuse_scores(self.values(numeric), self.named(numeric))
        return self.wide(layout, cells, [*free, *cells], _NOT_CHOSEN)

    def screen(self, cells: Sequence[int]) -> Screened:
        """Screen columns of numbers for ranks; what else they hold is refused where it is read."""
        numeric = [cell for cell in cells if self.share([cell]) == 1]
        values = self.values(numeric)
        options = self.options
        if options.layout == "auto" and are_turned_rankings(values):
            raise InputError(
                "each column holds 1, 2, ..., once each, and the rows do not, so each row seems to "
                "be an item",
                [
                    "turn the table, so that each row is an answer",
                    use("if each row is an answer", layout="ranks", ties="allow"),
                ],
            )
        said = options.layout == "ranks" and options.ties == "allow"
        names = [self.columns[cell] for cell in numeric]
        screened = screen_ranks(values, names, options.ties, said=said)
        return Screened(
            tuple(numeric[column] for column in screened.kept),
            tuple((numeric[column], why) for column, why in screened.aside),
        )

    def values(self, cells: Sequence[int]) -> "np.typing.NDArray[np.float64]":
        name_row: RowNamer = numbered_row
        columns = [
            numbers(self.sample.column(cell), "the rank", name_row, places=True) for cell in cells
        ]
        return np.column_stack(columns) if columns else np.empty((self.sample.num_rows, 0))

    def ask_about_codes(self, free: Sequence[int]) -> None:
        """Refuse numbers that may say that an answer is missing."""
        numeric = [cell for cell in free if not self.is_empty(cell) and self.share([cell]) == 1]
        ranks = self.options.better is None
        refuse_codes(self.values(numeric), self.named(numeric), ranks=ranks)

    def places(self, free: Sequence[int]) -> tuple[int, ...] | None:
        """Return the columns whose titles name the places 1, 2, ..., in that order."""
        by_place = self.by_place(free, place_in_title)
        if by_place is None:
            by_place = self.by_place(free, place_within_title)
            if by_place is None or self.share([one for some in by_place.values() for one in some]):
                return None
        wanted = list(by_place)
        cells = tuple(by_place[place][0] for place in wanted)
        bare = all(self.titles[cell].isdecimal() for cell in cells)
        if bare and list(cells) != sorted(cells):
            return None  # it may be an answer instead of a header
        asked = all(split_question(self.titles[cell]) for cell in cells)
        if (bare or asked) and self.share(cells) >= 0.5 and self.options.layout == "auto":
            return None
        if any(len(columns) > 1 for columns in by_place.values()):
            again = next(columns for columns in by_place.values() if len(columns) > 1)
            raise InputError(
                f"columns {quoted(self.titles[again[0]])} and {quoted(self.titles[again[1]])} "
                "are for the same place, so the table seems to hold several questions",
                [
                    use("to read one of them", items=_pattern_of(self.titles[column]))
                    for column in again
                ],
            )
        return cells

    def by_place(
        self, free: Sequence[int], place_of: Callable[[str], str | None]
    ) -> dict[str, list[int]] | None:
        """Return the columns of each place, in order, if they are 1, 2, ... and not one alone."""
        found: dict[str, list[int]] = {}
        for column in free:
            place = place_of(self.titles[column])
            if place is not None:
                found.setdefault(place, []).append(column)
        wanted = [str(number) for number in range(1, len(found) + 1)]
        if len(wanted) < 2 or set(found) != set(wanted):
            return None
        return {place: found[place] for place in wanted}

    def scores(self, free: Sequence[int]) -> Wide:
        """Find the columns of scores."""
        numeric = [c for c in free if not self.is_empty(c) and self.share([c]) == 1]
        asked = self.one_question(numeric)
        if asked is not None:
            return self.wide("ranks", asked, free, "is not part of the question")
        values = self.values(numeric)
        screened = screen_scores(values, [self.columns[cell] for cell in numeric])
        if screened is None:
            raise InputError(
                "fewer than two columns of scores were found",
                [use("to name the columns that are items", items=...)],
            )
        kept = tuple(numeric[column] for column in screened.kept)
        aside = {numeric[column]: why for column, why in screened.aside}
        return self.sorted_out("ranks", kept, free, aside)

    def one_question(self, numeric: Sequence[int]) -> tuple[int, ...] | None:
        """Return the columns of the only question, if all but it have other titles."""
        asked = questions([self.titles[cell] for cell in numeric])
        if len(asked) > 1:
            first, second, *_ = asked.values()
            raise InputError(
                f"columns {quoted(self.titles[numeric[first[0]]])} and "
                f"{quoted(self.titles[numeric[second[0]]])} belong to different questions",
                [
                    use("to read one of them", items=_pattern_of(self.titles[numeric[one[0]]]))
                    for one in asked.values()
                ],
            )
        return tuple(numeric[position] for position in next(iter(asked.values()), ())) or None

    def sorted_out(
        self,
        layout: TableLayout,
        kept: tuple[int, ...],
        free: Sequence[int],
        reasons: dict[int, str],
    ) -> Wide:
        aside = []
        for column in free:
            if column not in kept:
                why = reasons.get(column, _EMPTY if self.is_empty(column) else _TEXT)
                aside.append(Aside(self.titles[column], why))
        return self.with_names(Wide(layout, kept, aside=tuple(aside)))

    def ranks(self, free: Sequence[int]) -> Wide:
        """Find the columns of ranks; single texts in them are refused where they are read."""
        if self.options.items is not None:
            return self.wide("ranks", free, free, "")
        filled = [column for column in free if not self.is_empty(column)]
        # Text with some numbers is a remark; numbers with some text are ranks with a slip.
        texts = [column for column in filled if self.share([column]) < 0.5]
        mixed = [column for column in filled if 0.5 <= self.share([column]) < 1]
        if self.sample.num_rows == 1:
            texts, mixed = [], texts + mixed
        numeric = [column for column in filled if column not in texts and column not in mixed]
        if mixed:
            self.check_labels(mixed)
            return self.wide("ranks", (*numeric, *mixed), free, _EMPTY)
        screened = self.screen_question(numeric) or self.screen(numeric)
        if not screened.kept and len(numeric) >= 2:
            raise no_ranks(self.values(numeric), self.named(numeric))
        kept = screened.kept
        if len(kept) < 2 and not (texts or screened.aside):
            return self.wide("ranks", free, free, "")
        return self.sorted_out("ranks", kept, free, dict(screened.aside))

    def check_labels(self, mixed: Sequence[int]) -> None:
        """Refuse numbers of which some have a label, such as "5 (very much)": they are grades."""
        for column in mixed:
            texts = [word for word in self.words(column) if read_number(word) is None]
            if all(map(_LABELLED.fullmatch, texts)):
                raise InputError(
                    f"column {quoted(self.titles[column])} holds numbers with words, such as "
                    f"{quoted(texts[0])}, which look like grades",
                    [use("to list them as they are written, best first", order=...)],
                )

    def screen_question(self, numeric: Sequence[int]) -> Screened | None:
        """Screen the columns of the only question, if there are others that are not ranks."""
        asked = questions([self.titles[cell] for cell in numeric])
        inside = {numeric[position] for positions in asked.values() for position in positions}
        if not inside or are_strict_rankings(self.values(numeric)):
            return None
        if len(asked) == 1 and len(inside) == len(numeric):
            return None
        cells = self.one_question(numeric) or ()
        if not are_rankings(self.values(cells)):
            return None
        return Screened(
            cells, tuple((c, "is not part of the question") for c in numeric if c not in cells)
        )

    def recognised(self, free: Sequence[int]) -> Wide:
        """Tell orderings, one column per place, from ranks, one column per item."""
        filled = [column for column in free if not self.is_empty(column)]
        titles = self.named(free)
        share_of = {column: self.share([column]) for column in filled}
        texts = [column for column, share in share_of.items() if share < 0.5]
        numeric = [column for column, share in share_of.items() if share == 1]
        if self.sample.num_rows > 1 and texts and numeric and not are_numbered_places(titles):
            try:
                ranks = self.ranks_among(numeric, mixed=len(filled) > len(texts) + len(numeric))
            except InputError as error:
                if self.repeat_names(texts):
                    raise error.also(_ONE_ROW_PER_ITEM) from None
                raise
            if ranks is None:
                raise _mixture(self.named(texts), self.named(numeric))
            return self.sorted_out("ranks", ranks.kept, free, dict(ranks.aside))
        if self.share(free) < 0.5:
            self.check_choices(texts)
            self.check_vocabulary(texts)
            self.check_repeats(texts)
            return self.wide("orderings", free, free, "")
        if all(title.isdecimal() for title in titles):
            raise InputError(
                "columns and cells are all numbers, so the table may hold orderings or ranks",
                [
                    use("if there is one column per place", layout="orderings"),
                    use("if there is one column per item", layout="ranks"),
                ],
            )
        if are_numbered_places(titles):
            return self.wide("orderings", free, free, "")
        return self.ranks(free)

    def ranks_among(self, numeric: Sequence[int], *, mixed: bool) -> Screened | None:
        """Return the columns of ranks beside columns of text, if they clearly are ranks."""
        if mixed or len(numeric) < 2:
            return None
        if not self.screen(numeric).kept and self.one_question(numeric) is None:
            return None
        wide = self.ranks(numeric)
        reasons = {one.column: one.why for one in wide.aside}
        values = self.values(wide.cells)
        if len(wide.cells) < 2 or not are_rankings(values):
            return None
        return Screened(
            wide.cells,
            tuple((c, reasons[self.titles[c]]) for c in numeric if c not in wide.cells),
        )

    def repeat_names(self, texts: Sequence[int]) -> bool:
        """Whether a column repeats its texts, as the items of one answer after the other do."""
        return any(2 * len(set(self.words(one))) <= self.sample.num_rows for one in texts)

    def check_vocabulary(self, texts: Sequence[int]) -> None:
        """Refuse columns if some hold different texts from the rest, unless they name places."""
        if self.options.items is not None or self.sample.num_rows < 2 or len(texts) < 3:
            return
        if any(columns <= {title.lower() for title in self.titles} for columns in _OF_BATTLES):
            raise InputError(
                "the columns look like battles",
                [
                    instead("read_battles", "for tiers and rank intervals", command="leaderboard"),
                    use("if they are rankings", layout="orderings"),
                ],
            )
        words = [set(self.words(column)) for column in texts]
        shared = [
            any(words[one] & words[two] for two in range(len(texts)) if two != one)
            for one in range(len(texts))
        ]
        odd = [texts[one] for one in range(len(texts)) if not shared[one] and len(words[one]) > 1]
        if len(odd) == len(texts) and self.sample.num_rows > _FEW_ROWS:
            raise InputError(
                f"no text is in two of the {_columns(self.named(texts))}: they may not be places",
                [
                    _ONE_ROW_PER_ITEM,
                    use("if all columns are places", layout="orderings"),
                ],
            )
        if odd and any(shared):
            kept = [column for column in texts if column not in odd]
            raise InputError(
                f"column {quoted(self.titles[odd[0]])} holds different texts from the rest, "
                f"such as {quoted(self.words(odd[0])[0])}, so it may not be a place",
                [
                    use("if it is not part of the answers", assessor=self.named(odd)),
                    "rename the places to "
                    f"{listed([f'place {number}' for number in range(1, len(kept) + 1)])}",
                    use("if all columns are places", layout="orderings"),
                ],
            )

    def check_repeats(self, texts: Sequence[int]) -> None:
        """Refuse columns that hold the same text in most rows: they are grades, not places."""
        if self.options.items is not None or self.sample.num_rows < _FEW_ROWS:
            return
        encoded = [encode(self.sample.column(column)) for column in texts]
        known = {label: at for at, label in enumerate({one for _, own in encoded for one in own})}
        cells = np.stack(
            [np.array([*(known[one] for one in own), ABSENT])[codes] for codes, own in encoded],
            axis=1,
        )
        ascending = np.sort(cells, axis=1)
        repeats = (ascending[:, 1:] == ascending[:, :-1]) & (ascending[:, 1:] != ABSENT)
        if 2 * repeats.any(axis=1).sum() <= len(cells):
            return
        row = int(np.argmax(repeats.any(axis=1)))
        again = list(known)[ascending[row, 1:][repeats[row]][0]]
        raise InputError(
            f"most rows hold a text twice, such as {quoted(again)}, so the "
            f"{_columns(self.named(texts))} do not seem to be places",
            [
                use("to list the grades, best first, if the cells are grades", order=...),
                use("if all columns are places", layout="orderings"),
            ],
        )

    def check_choices(self, texts: Sequence[int]) -> None:
        """Refuse three columns of which one says which of the two others was chosen."""
        if self.options.items is not None or len(texts) != 3 or self.sample.num_rows < _FEW_ROWS:
            return
        cells = {column: self.sample.column(column).to_pylist() for column in texts}
        for winner in texts:
            first, second = (column for column in texts if column != winner)
            words = [set(self.words(column)) for column in (first, second)]
            if not words[0] & words[1] or len(words[0] | words[1]) < 3:
                continue
            rows = list(zip(cells[winner], cells[first], cells[second], strict=True))
            named = sum(chosen in pair for chosen, *pair in rows)
            sides = sum(str(chosen).strip().casefold() in _SIDES for chosen, *_ in rows)
            if max(named, sides) < 0.9 * len(rows) or any(one == other for _, one, other in rows):
                continue
            titles = [self.titles[column] for column in (first, second, winner)]
            raise InputError(
                f"column {quoted(titles[2])} seems to say which of {quoted(titles[0])} and "
                f"{quoted(titles[1])} was chosen",
                [
                    instead(
                        "read_battles",
                        "to read one comparison per row",
                        command="leaderboard",
                        first=titles[0],
                        second=titles[1],
                        winner=titles[2],
                    ),
                    use("if all columns are places", layout="orderings"),
                ],
            )

    def words(self, column: int) -> list[str]:
        return [str(label) for label in _words(self.sample.column(column))]


def _words(column: "pa.ChunkedArray") -> list[Any]:
    """Return what is in the cells of a column, each once."""
    codes, labels = encode(column)
    return [labels[code] for code in np.unique(codes[codes != ABSENT]).tolist()]


def listed(names: Sequence[str]) -> str:
    """Name columns in a message."""
    return ", ".join(quoted(name) for name in names)


def _pattern_of(title: str) -> str:
    """Return a pattern for the columns of the same question."""
    parts = split_question(title)
    if not parts:
        return pattern_of_places(title)
    return f"{parts[0]}_*" if title.startswith(f"{parts[0]}_") else f"{parts[0]}*"


def _mixture(texts: list[str], numeric: list[str]) -> InputError:
    return InputError(
        f"{_columns(texts)} {_hold(texts)} names and {_columns(numeric)} {_hold(numeric)} "
        "numbers, so it is not clear what the table holds",
        [
            _ONE_ROW_PER_ITEM,
            use(
                "to name the columns that are not part of the answers, if it has one row per "
                "answer",
                assessor=...,
            ),
            use("if the numbers are scores and higher is better", better="higher"),
            use("if lower is better", better="lower"),
        ],
    )


def _columns(names: list[str]) -> str:
    return f"{'column' if len(names) == 1 else 'columns'} {listed(names)}"


def _hold(names: list[str]) -> str:
    return "holds" if len(names) == 1 else "hold"
