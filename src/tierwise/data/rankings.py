"""Rankings of named items, complete or incomplete, with weights."""

import json
from collections.abc import Iterable, Sequence
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tierwise._kernels.counting import add_block_pair_counts
from tierwise._util.checks import (
    check_choice,
    check_items,
    check_iterable,
    check_number,
    check_path,
)
from tierwise._util.provenance import MultisetHash, digest, fingerprint_of_answers
from tierwise._util.saved import file_to_save, open_arrays, save_arrays
from tierwise._util.types import (
    NOT_LISTED,
    Item,
    Places,
    RowNamer,
    Ties,
    Unranked,
    Weights,
    WeightsAre,
    numbered_row,
)
from tierwise.data.joining import joined_rankings
from tierwise.data.people import tidy_people
from tierwise.data.showing import as_read, in_html, in_words
from tierwise.data.weights import EffectiveNumber, effective_number, tell_weights
from tierwise.errors import InputError, counted, quoted
from tierwise.files import places as encoding
from tierwise.files.places import collapse, with_ties

if TYPE_CHECKING:
    from os import PathLike

    import pyarrow as pa

    from tierwise.data.frames import Backend
    from tierwise.data.scan import RankingScan
    from tierwise.files.missing import Missing
    from tierwise.files.options import Better, Columns, Layout, ReadingNotes
    from tierwise.files.places import EncodedRankings
    from tierwise.files.source import Format
    from tierwise.files.spellings import Spellings


class Rankings:
    """A collection of rankings of the same items. Immutable.

    Make one with `from_orderings`, `from_ranks` or `read_rankings`. An answer may list only some of
    the items; ``unranked`` then says what that means. Answers may contain ties.

    Attributes
    ----------
    items : tuple
        The items, by their own names.
    unranked : {"below", "anywhere"} or None
        What it means if an item is not listed: it ranks below all listed items (ballots, finishers
        of a race), or its rank is unknown (not shown). None if every answer is complete.
    weights : numpy.ndarray
        The weight of each answer, in the order given; whole numbers are kept as integers.
    weights_are : {"counts", "survey"} or None
        Whether weights say how often an answer was given, or are survey weights. None means not
        given: whole numbers are then counts, other numbers survey weights, and models raise an
        error if this is ambiguous.
    places : numpy.ndarray
        ``places[row, item]`` is the place of the item in the answer, counted from 0; tied items
        share the first place they take up; -1 is not listed.
    reading : ReadingNotes or None
        How the file or data frame was read, if the rankings come from one.
    people : pyarrow.Table or None
        Columns about people: one row per answer, in the order of ``places``, so row ``i`` belongs
        to the pattern ``pattern_of[i]``. None if there are none.
    patterns, pattern_weights, pattern_of : numpy.ndarray
        The distinct rows of ``places``, their total weights, and the pattern of each answer.

    Examples
    --------
    >>> rankings = Rankings.from_orderings([["a", "b", "c"], ["b", "a", "c"], ["a", "b", "c"]])
    >>> rankings
    Rankings(3 rankings of 3 items, complete, 2 distinct)
    >>> rankings.to_orderings()[1]
    ['b', 'a', 'c']
    """

    # What the data are called, whether pairs of items were compared, the one distance there is for
    # them, if only one, and the families of models.
    kind: ClassVar[str] = "rankings"
    pairwise: ClassVar[bool] = False
    only_distance: ClassVar[str | None] = None
    above_in_words: ClassVar[str] = "ranked above"
    families: ClassVar[tuple[str, ...]] = ("mallows", "luce")
    # Of battles only it is known who won against whom, and what else follows from pairs.
    wins: ClassVar[None] = None
    includes_what_follows: ClassVar[bool] = False

    items: tuple[Item, ...]
    unranked: Unranked | None
    weights: Weights
    places: Places
    weights_are: WeightsAre | None = None
    reading: "ReadingNotes | None" = None
    # How many answers weights were scaled for; None if they are as they were given.
    _scaled_from: int | None = None
    _people_as_read: "pa.Table | None" = None

    def __init__(
        self,
        items: Iterable[Item],
        places: Places,
        weights: Iterable[float] | Weights | None = None,
        *,
        unranked: Unranked | None = None,
        weights_are: WeightsAre | None = None,
        name_row: RowNamer = numbered_row,
    ) -> None:
        known = check_items(items)
        checked = encoding.check_places(places, len(known), name_row)
        self._set_answers(known, checked, weights, unranked, name_row)
        self.weights_are = _check_weights_are(weights_are)

    def _set_answers(
        self,
        items: tuple[Item, ...],
        places: Places,
        weights: Iterable[float] | Weights | None,
        unranked: Unranked | None,
        name_row: RowNamer,
    ) -> None:
        """Take answers whose places are known to be right."""
        self.items = items
        self.weights = encoding.encode_weights(weights, len(places), name_row)
        if len(places) == 0:
            raise InputError("there are no rankings: pass at least one row")
        check_choice("unranked", unranked, (*get_args(Unranked), None))
        completed = encoding.complete_the_last(places) if unranked == "below" else places
        self.places = np.ascontiguousarray(completed, dtype=np.int32).view()
        incomplete = self.places.min() == NOT_LISTED
        if incomplete and unranked is None:
            raise encoding.unranked_missing(self.places, self.items, name_row)
        self.unranked = unranked if incomplete else None
        _freeze(self.weights, self.places)

    # Found on first use: counting a chunk needs no distinct answers, and is faster without them.
    @cached_property
    def _collapsed(self) -> tuple[Places, NDArray[np.int64], Weights]:
        patterns, pattern_of = collapse(self.places)
        weights = np.zeros(len(patterns), dtype=self.weights.dtype)
        np.add.at(weights, pattern_of, self.weights)
        _freeze(patterns, pattern_of, weights)
        return patterns, pattern_of, weights

    @property
    def patterns(self) -> Places:
        """The distinct answers, in order of first appearance."""
        return self._collapsed[0]

    @property
    def pattern_of(self) -> NDArray[np.int64]:
        """The number of the pattern of each answer."""
        return self._collapsed[1]

    @property
    def pattern_weights(self) -> Weights:
        """The total weight of the answers that have each pattern."""
        return self._collapsed[2]

    # Most work needs no more than the answers, so these columns wait until they are requested.
    @cached_property
    def people(self) -> "pa.Table | None":
        """Columns about people, one row per answer; None if there are none.

        Readers keep the columns of a table that do not hold answers here, as an arrow table. It is
        immutable, and pandas, polars and narwhals accept it. Cells without a value are missing.
        Fingerprints and equality do not depend on it.
        """
        return tidy_people(self._people_as_read)

    def with_people(self, frame: Any) -> "Rankings":
        """Return the same answers with other columns about people.

        Parameters
        ----------
        frame
            A data frame of pandas, polars or pyarrow (or any that narwhals knows) with one row per
            answer, in the same order; None for no columns.

        Examples
        --------
        >>> import pyarrow as pa
        >>> answers = Rankings.from_orderings([["a", "b"], ["b", "a"]])
        >>> answers.with_people(pa.table({"age": [34, 51]})).subset([1]).people.to_pydict()
        {'age': [51]}
        """
        from tierwise.data.frames import as_arrow

        table = None if frame is None else as_arrow(frame)
        if table is not None and table.num_rows != len(self):
            raise InputError(
                f"the data frame has {counted(table.num_rows, 'row')} for "
                f"{counted(len(self), 'answer')}: give one row per answer, in the same order"
            )
        return self._with_people(table)

    def _with_people(self, table: "pa.Table | None") -> "Rankings":
        other = copy(self)
        other.__dict__.pop("people", None)
        other._people_as_read = table
        return other

    @property
    def effective_size(self) -> float:
        """The effective number of answers (Kish, Survey Sampling, 1965, 11.7).

        Counts add up. Survey weights correct for people who were sampled too rarely:
        ``sum(w) ** 2 / sum(w ** 2)``.

        Examples
        --------
        >>> rows = [["a", "b"], ["b", "a"]]
        >>> Rankings.from_orderings(rows, weights=[3, 1]).effective_size
        4.0
        >>> Rankings.from_orderings(rows, weights=[1.5, 0.5]).effective_size
        1.6
        """
        return float(self.with_effective_weights().n_rankings)

    def with_weights_as(self, weights_are: WeightsAre) -> "Rankings":
        """Return the same answers with the meaning of their weights given.

        Parameters
        ----------
        weights_are
            "counts": the weight is how often an answer was given. "survey": weights correct for
            people who were sampled too rarely, and models scale them to the effective number of
            answers.

        Examples
        --------
        >>> answers = Rankings.from_orderings([["a", "b"], ["b", "a"]], weights=[30, 10])
        >>> answers.with_weights_as("survey").effective_size
        1.6
        """
        other = copy(self)
        other.weights_are = _check_weights_are(weights_are)
        return other

    def with_effective_weights(self) -> "Rankings":
        """Return answers as models count them, with survey weights scaled to the effective size.

        Counts do not change. Raises an error if weights may be counts or survey weights.

        Examples
        --------
        >>> answers = Rankings.from_orderings([["a", "b"], ["b", "a"]], weights=[1500.5, 500.5])
        >>> answers.with_effective_weights().weights.round(2).tolist()
        [1.2, 0.4]
        """
        if self._scaled_from is not None or (self.weights == 1).all():
            return self
        meaning = self.weights_are or tell_weights(self.weights, self.patterns, self.pattern_of)
        if meaning == "counts":
            return self
        number = effective_number(self.weights)
        weights = self.weights * (float(number) / float(self.n_rankings))
        scaled = self.with_scaled_weights(weights, number.n_answers)
        scaled.__dict__["n_rankings"] = number
        return scaled

    def with_scaled_weights(
        self, weights: NDArray[np.float64], n_answers: int | None = None
    ) -> "Rankings":
        """Return the same answers with other weights.

        Parameters
        ----------
        weights
            The weight of each answer; they are not scaled again.
        n_answers
            The number of answers that they were scaled for; as before if not given.
        """
        other = copy(self)
        for name in ("_collapsed", "n_rankings"):
            other.__dict__.pop(name, None)
        other.weights = weights
        other._scaled_from = n_answers or self._scaled_from
        _freeze(other.weights)
        return other

    @classmethod
    def from_orderings(
        cls,
        rows: Iterable[Iterable[object]],
        items: Iterable[Item] | None = None,
        weights: Iterable[float] | None = None,
        unranked: Unranked | None = None,
        weights_are: WeightsAre | None = None,
    ) -> "Rankings":
        """Make rankings from orderings, best item first.

        Parameters
        ----------
        rows
            One ordering per row. A list or a set inside a row holds tied items.
        items
            The complete list of items; by default those that appear in the rows.
        weights
            How often each row counts; by default once.
        unranked
            What it means if a row does not list an item. Required if a row is incomplete.
        weights_are
            What weights mean, "counts" or "survey"; see `with_weights_as`.

        Examples
        --------
        >>> Rankings.from_orderings([["a", "b"], ["b", ["a", "c"]]], unranked="below")
        Rankings(2 rankings of 3 items, 1 with ties)
        >>> Rankings.from_orderings([["a"], ["b", "a", "c"]], unranked="below")
        Rankings(2 rankings of 3 items, 1 incomplete: not listed = below)
        """
        known, places = encoding.encode_orderings(rows, items, numbered_row)
        return cls(known, places, weights, unranked=unranked, weights_are=weights_are)

    @classmethod
    def from_ranks(
        cls,
        ranks: ArrayLike | Any,
        items: Iterable[Item] | None = None,
        weights: Iterable[float] | None = None,
        unranked: Unranked | None = None,
        ties: Ties = "error",
        weights_are: WeightsAre | None = None,
    ) -> "Rankings":
        """Make rankings from a table of ranks, one row per answer and one column per item.

        Parameters
        ----------
        ranks
            An array, or a data frame whose columns are the items. 1 is best; NaN means not ranked.
        items
            The items, in the order of the columns; by default 1, 2, ... for an array.
        weights
            How often each row counts; by default once.
        unranked
            What it means if an item has no rank. Required if a row is incomplete.
        ties
            "allow" accepts equal ranks in a row as ties.
        weights_are
            What weights mean, "counts" or "survey"; see `with_weights_as`.

        Examples
        --------
        >>> Rankings.from_ranks([[1, 2, 3], [2, 1, 3]], items=["a", "b", "c"]).to_orderings()
        [['a', 'b', 'c'], ['b', 'a', 'c']]
        """
        names, table = _as_table(ranks, "ranks", "answer")
        known = check_items(names if items is None else items)
        if len(known) != table.shape[1]:
            raise InputError(f"{len(known)} items were given for {table.shape[1]} columns of ranks")
        places = encoding.encode_ranks(table, known, ties, numbered_row)
        return cls(known, places, weights, unranked=unranked, weights_are=weights_are)

    @classmethod
    def from_scores(
        cls,
        scores: ArrayLike | Any,
        better: "Better",
        items: Iterable[Item] | None = None,
        *,
        tolerance: float = 0.0,
        unranked: Unranked = "anywhere",
    ) -> "Rankings":
        """Make rankings from a table of scores, one row per task and one column per item.

        Parameters
        ----------
        scores
            An array, or a data frame whose columns are the items. Equal scores are ties. NaN means
            that the item has no score.
        better
            Which scores are better: "higher" or "lower".
        items
            The items, in the order of the columns; by default 1, 2, ... for an array.
        tolerance
            Scores within this distance of the best of a group are tied with it.
        unranked
            Whether an item without a score was not tried, so its rank is unknown ("anywhere"), or
            failed, so it ranks "below" all others.

        Examples
        --------
        >>> table = [[0.91, 0.85, 0.40], [0.55, 0.54, 0.90]]
        >>> Rankings.from_scores(table, "higher", items="xyz", tolerance=0.02).to_orderings()
        [['x', 'y', 'z'], ['z', ['x', 'y']]]
        """
        check_choice("better", better, ("higher", "lower"))
        check_number("tolerance", tolerance, least=0.0)
        check_choice("unranked", unranked, get_args(Unranked))
        names, table = _as_table(scores, "scores", "task")
        if table.size == 0:
            raise InputError("scores must be a table: one row per task, one column per item")
        if np.isinf(table).any():
            raise InputError("scores must be finite numbers, or NaN if an item was not tried")
        untried = np.isnan(table).all(axis=1)
        if untried.any():
            raise InputError(
                f"row {int(np.argmax(untried)) + 1} of the scores is empty: delete the row"
            )
        ranks = encoding.ranks_of_scores(table, better, tolerance)
        known = names if items is None else items
        said = unranked if np.isnan(ranks).any() else None
        return cls.from_ranks(ranks, known, unranked=said, ties="allow")

    @classmethod
    def from_order_array(
        cls,
        orderings: NDArray[np.integer[Any]],
        items: Iterable[Item],
        weights: Iterable[float] | None = None,
    ) -> "Rankings":
        """Make complete rankings from an array of positions in ``items``, best first.

        This is the fastest constructor. Every row must be a permutation of 0, 1, ..., n - 1.

        Examples
        --------
        >>> Rankings.from_order_array(np.array([[2, 0, 1]]), "abc").to_orderings()
        [['c', 'a', 'b']]
        """
        known = check_items(items)
        places = encoding.encode_order_array(orderings, len(known))
        return cls(known, places, weights)

    @classmethod
    def from_encoded(cls, encoded: "EncodedRankings") -> "Rankings":
        """Make rankings from the arrays of a file reader."""
        rankings = cls.__new__(cls)
        rankings._set_answers(
            check_items(encoded.items),
            encoded.places,
            encoded.weights,
            encoded.unranked,
            encoded.name_row,
        )
        rankings.weights_are = encoded.weights_are
        rankings.reading = encoded.notes
        rankings._people_as_read = encoded.people
        return rankings

    @classmethod
    def scan(
        cls,
        path: "str | PathLike[str]",
        *,
        format: "Format" = "auto",  # noqa: A002 - the word users look for
        layout: "Layout" = "auto",
        unranked: Unranked | None = None,
        ties: Ties = "error",
        items: Iterable[Item] | None = None,
        weights: str | None = None,
        weights_are: WeightsAre | None = None,
        assessor: "Columns | None" = None,
        missing: "Missing | None" = None,
        spellings: "Spellings" = "ask",
    ) -> "RankingScan":
        """Keep rankings in files, which may be larger than memory, and count them there.

        Only the first rows are read until results are needed.

        Parameters
        ----------
        path
            A CSV or Parquet file with one row per answer; a folder of such files; or a pattern for
            their names, as in ``votes/2024-*.parquet``.
        format, layout, unranked, ties, items, weights, weights_are, assessor, missing, spellings
            As in `tierwise.read_rankings`.

        Returns
        -------
        RankingScan
            `fit`, `search` and `sample_posterior` take it instead of rankings.
        """
        from tierwise.data.scan import RankingScan
        from tierwise.files.options import TableOptions

        options = TableOptions.make(
            items=items,
            layout=layout,
            unranked=unranked,
            ties=ties,
            weights=weights,
            weights_are=weights_are,
            assessor=assessor,
            missing=missing,
            spellings=spellings,
        )
        return RankingScan(path, options, format, cls)

    def to_frame(self, *, backend: "Backend" = "pandas") -> Any:
        """Return a data frame of ranks: one row per answer, one column per item, then ``weight``.

        Parameters
        ----------
        backend
            The library of the data frame: "pandas", "polars" or "pyarrow".

        Examples
        --------
        >>> Rankings.from_orderings([["b", "a"]]).to_frame().to_dict("records")
        [{'b': 1.0, 'a': 2.0, 'weight': 1}]
        """
        from tierwise.data.frames import make_frame

        columns: dict[str, Any] = {
            str(item): column for item, column in zip(self.items, self.ranks().T, strict=True)
        }
        if "weight" in columns:
            raise InputError(
                'an item is named "weight", like the column of weights: rename the item'
            )
        return make_frame(columns | {"weight": self.weights}, backend)

    def to_orderings(self) -> list[list[Any]]:
        """Return the answers as lists, best first, with tied items in an inner list."""
        distinct = [self._as_ordering(places) for places in self.patterns]
        return [list(distinct[pattern]) for pattern in self.pattern_of]

    def _as_ordering(self, places: Places) -> list[Any]:
        groups: dict[int, list[Item]] = {}
        for item in np.argsort(places, kind="stable").tolist():
            if places[item] != NOT_LISTED:
                groups.setdefault(int(places[item]), []).append(self.items[item])
        return [group[0] if len(group) == 1 else group for group in groups.values()]

    def ranks(self) -> NDArray[np.float64]:
        """Return the rank of every item in every answer: 1 is best, NaN means not ranked.

        Tied items share the first of their places, as in 1, 2, 2, 4.
        """
        ranks = self.patterns.astype(np.float64) + 1
        ranks[self.patterns == NOT_LISTED] = np.nan
        return ranks[self.pattern_of]

    def subset(self, rows: Sequence[int] | slice | NDArray[Any]) -> "Rankings":
        """Keep some of the answers: by their numbers (from 0), a slice, or a mask of booleans.

        Examples
        --------
        >>> Rankings.from_orderings([["a", "b"], ["b", "a"]]).subset([1]).to_orderings()
        [['b', 'a']]
        """
        numbers = np.arange(len(self))
        chosen = numbers[rows] if isinstance(rows, slice) or len(rows) else numbers[:0]
        if len(chosen) == 0:
            raise InputError("the selection is empty: choose at least one row")
        part = Rankings(
            self.items,
            self.places[chosen],
            self.weights[chosen],
            unranked=self.unranked,
            weights_are=self.weights_are,
        )
        part._scaled_from = self._scaled_from
        return part if self.people is None else part._with_people(self.people.take(chosen))

    def restrict(self, items: Iterable[Item]) -> "Rankings":
        """Keep some of the items; remove the others from every answer.

        Examples
        --------
        >>> Rankings.from_orderings([["a", "b", "c"]]).restrict(["c", "a"]).to_orderings()
        [['a', 'c']]
        """
        kept = check_items(items)
        numbers = {item: number for number, item in enumerate(self.items)}
        for item in kept:
            if item not in numbers:
                raise encoding.unknown_item(item, self.items, "restrict")
        places = self.patterns[:, [numbers[item] for item in kept]].astype(np.float64)
        places[places == NOT_LISTED] = np.nan
        # An answer left without items stays: it counts as one, though it says nothing any more.
        informative = ~np.isnan(places).all(axis=1)
        patterns = np.full(places.shape, NOT_LISTED, dtype=np.int32)
        patterns[informative] = encoding.places_of_ranks(
            places[informative] + 1, kept, "allow", numbered_row
        )
        part = Rankings(
            kept,
            patterns[self.pattern_of],
            self.weights,
            unranked=self.unranked,
            weights_are=self.weights_are,
        )
        part._scaled_from = self._scaled_from
        return part._with_people(self._people_as_read)

    @classmethod
    def concat(cls, parts: Iterable["Rankings"]) -> "Rankings":
        """Join collections of rankings of the same items into one.

        Examples
        --------
        >>> one = Rankings.from_orderings([["a", "b"]])
        >>> Rankings.concat([one, one])
        Rankings(2 rankings of 2 items, complete, 1 distinct)
        """
        given = list(check_iterable("parts", parts, "Rankings"))
        if not given:
            raise InputError("there is nothing to join: pass at least one collection of rankings")
        for part in given:
            if not isinstance(part, Rankings):
                raise InputError(f"parts must be Rankings; got {quoted(part)}")
        return cls.from_encoded(joined_rankings(given))

    @classmethod
    def merge(cls, parts: Iterable["Rankings"]) -> "Rankings":
        """Join collections of rankings, and keep each distinct answer once, with its weight.

        Survey weights belong to people, so answers with such weights are all kept. If the ranks of
        items not listed are unknown, parts may have different items: a model that is new today was
        not shown yesterday. Otherwise all parts must have the same items.

        Parameters
        ----------
        parts
            Rankings, such as those that `load` returns and those of today.

        Examples
        --------
        >>> old = Rankings.from_scores([[0.9, 0.8], [0.7, 0.7]], "higher", ["x", "y"])
        >>> new = Rankings.from_scores([[0.9, 0.8, 0.85]], "higher", ["x", "y", "z"])
        >>> Rankings.merge([old, new]).to_orderings()
        [['x', 'y'], [['x', 'y']], ['x', 'z', 'y']]
        """
        given = list(check_iterable("parts", parts, "Rankings"))
        for part in given:
            if not isinstance(part, Rankings):
                raise InputError(f"parts must be Rankings; got {quoted(part)}")
        if all(part.unranked != "below" for part in given):
            items = tuple(dict.fromkeys(item for part in given for item in part.items))
            given = [part._among(items) for part in given]
        joined = cls.concat(given)
        if not joined._are_counts:
            return joined._with_people(None)
        return cls(
            joined.items,
            joined.patterns,
            joined.pattern_weights,
            unranked=joined.unranked,
            weights_are=joined.weights_are,
        )

    @property
    def _are_counts(self) -> bool:
        """Whether weights of the same answer add up: not those of a survey."""
        return self.weights_are == "counts" or (
            self.weights_are is None and self.weights.dtype.kind == "i"
        )

    def _among(self, items: tuple[Item, ...]) -> "Rankings":
        """Return the same answers among more items, which were not shown."""
        if self.items == items:
            return self
        places = np.full((len(self), len(items)), NOT_LISTED, np.int32)
        places[:, [items.index(item) for item in self.items]] = self.places
        unranked = "anywhere" if len(items) > len(self.items) else self.unranked
        return Rankings(
            items, places, self.weights, unranked=unranked, weights_are=self.weights_are
        )

    def save(self, path: "str | PathLike[str]") -> None:
        """Write the distinct answers with their weights to a file, .npz, with a checksum.

        An update reads only the new answers and joins both with `merge`. Columns about people are
        not written. For complete rankings, `Counts` are enough: they are as small for a million
        rankings as for ten.

        Parameters
        ----------
        path
            The file; `load` reads it.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> one = Rankings.from_orderings([["a", ["b", "c"]], ["c", "a"]], unranked="anywhere")
        >>> with TemporaryDirectory() as folder:
        ...     one.save(f"{folder}/answers.npz")
        ...     Rankings.load(f"{folder}/answers.npz")
        Rankings(2 rankings of 3 items, 1 incomplete: not listed = anywhere, 1 with ties)
        """
        wanted = file_to_save(path, "rankings", self.items)
        items = json.dumps([self.items, self.unranked, self.weights_are], ensure_ascii=False)
        patterns, weights = self.patterns, self.pattern_weights
        if not self._are_counts:
            patterns, weights = self.places, self.weights
        checksum = digest(items, patterns, weights)
        save_arrays(wanted, patterns=patterns, weights=weights, items=items, checksum=checksum)

    @classmethod
    def load(cls, path: "str | PathLike[str]") -> "Rankings":
        """Read a file that `save` wrote; a damaged file is an error."""
        wanted = check_path(path)
        with open_arrays(wanted, "rankings") as saved:
            text, checksum = saved.text("items"), saved.text("checksum")
            items, unranked, *weights_are = json.loads(text)
            patterns = saved.array("patterns", (None, len(items)), "i")
            weights = saved.array("weights", (len(patterns),), "if")
        if checksum != digest(text, patterns, weights):
            raise InputError(
                f"{wanted} is damaged (its checksum does not match): read the rankings again"
            )
        return cls(items, patterns, weights, unranked=unranked, weights_are=(*weights_are, None)[0])

    def __len__(self) -> int:
        """Return the number of answers; an answer with weight 7 counts once here."""
        return len(self.places)

    @cached_property
    def n_rankings(self) -> int | float:
        """The number of rankings: the sum of the weights."""
        total: int | float = self.weights.sum().item()
        return total if self._scaled_from is None else EffectiveNumber(total, self._scaled_from)

    @cached_property
    def has_ties(self) -> bool:
        """Whether any answer contains ties."""
        if self.unranked is None:
            # Sharing the first of several places lowers the sum, and nothing raises it.
            n_items = len(self.items)
            total = self.places.sum(dtype=np.int64)
            return bool(total != len(self) * n_items * (n_items - 1) // 2)
        return bool(with_ties(self.places).any())

    @property
    def is_complete(self) -> bool:
        """Whether every answer lists every item, without ties."""
        return self.unranked is None and not self.has_ties

    @cached_property
    def pair_counts(self) -> NDArray[Any]:
        """How often each item is ranked above each other; ties and unknown orders do not count.

        Examples
        --------
        >>> Rankings.from_orderings([["a", "b", "c"], ["b", "a", "c"]]).pair_counts.tolist()
        [[0, 1, 2], [1, 0, 2], [0, 0, 0]]
        """
        open_places = self.unranked == "anywhere"
        places = self.patterns if open_places else encoding.first_places(self.patterns)
        counts = np.zeros((len(self.items),) * 2, dtype=self.pattern_weights.dtype)
        add_block_pair_counts(places, self.pattern_weights, counts)
        _freeze(counts)
        return counts

    @property
    def n_answers_of_items(self) -> NDArray[Any]:
        """The number of answers that list each item."""
        found: NDArray[Any] = self.pattern_weights @ (self.patterns != NOT_LISTED)
        return found

    @property
    def unit(self) -> str:
        """The plural noun for an answer: "answers", or "tasks" for scores."""
        is_scores = self.reading is not None and "scores" in self.reading.layout
        return "tasks" if is_scores else "answers"

    @property
    def n_given(self) -> int:
        """Number of answers as they were given, weights aside."""
        return len(self)

    @property
    def n_distinct(self) -> int:
        """Number of distinct answers."""
        return len(self.patterns)

    @property
    def holds_single_pairs(self) -> bool:
        """Whether no answer says more than which of two items is better."""
        listed = (self.patterns != NOT_LISTED).sum(axis=1)
        return self.unranked == "anywhere" and bool((listed <= 2).all())

    def as_read(self) -> str:
        """Say how many answers were read, in how many rows, about how many items."""
        return as_read(self)

    def fingerprint(self) -> str:
        """Return a sha256 hex digest of all that a likelihood depends on.

        It does not depend on the order of answers, nor on whether an answer has weight 2 or appears
        twice.

        Examples
        --------
        >>> one = Rankings.from_orderings([["a", "b"], ["b", "a"], ["a", "b"]])
        >>> other = Rankings.from_orderings([["a", "b"], ["b", "a"]], weights=[2, 1])
        >>> one.fingerprint() == other.fingerprint()
        True
        """
        answers = MultisetHash()
        if self.weights.dtype.kind == "i":
            answers.add(self.patterns, self.pattern_weights)
        else:
            # Sums of weights are rounded, in a way that depends on the order of the answers.
            answers.add(self.places, self.weights)
        return fingerprint_of_answers(self.items, self.unranked, answers)

    def __eq__(self, other: object) -> bool:
        """Compare items, answers and weights, in order."""
        if not isinstance(other, Rankings):
            return NotImplemented
        return (
            self.items == other.items
            and self.unranked == other.unranked
            and np.array_equal(self.weights, other.weights)
            and np.array_equal(self.places, other.places)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Rankings({in_words(self)})"

    def _repr_html_(self) -> str:
        """Show the first answers as a table, in a notebook."""
        return in_html(self)


def _as_table(
    values: ArrayLike | Any, what: str, row: str
) -> tuple[Sequence[Item], NDArray[np.float64]]:
    """Return the names of the columns (1, 2, ... where they have none) and a table of numbers."""
    if hasattr(values, "columns") and not isinstance(values, np.ndarray):
        from tierwise.data.frames import numeric_columns

        return numeric_columns(values)
    try:
        table = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{what} must be numbers, one row per {row}, all of one length") from None
    if table.ndim != 2:
        raise InputError(f"{what} must be a table: one row per {row}, one column per item")
    return range(1, table.shape[1] + 1), table


def _check_weights_are(weights_are: WeightsAre | None) -> WeightsAre | None:
    check_choice("weights_are", weights_are, (*get_args(WeightsAre), None))
    return weights_are


def _freeze(*arrays: NDArray[Any]) -> None:
    for array in arrays:
        array.flags.writeable = False
