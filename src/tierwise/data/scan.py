"""RankingScan: rankings that stay in their files and are counted there.

Files larger than memory are cut into pieces that are read in parallel, in constant memory.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, reduce
from glob import glob
from itertools import chain
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from tierwise._util.checks import check_items, check_path
from tierwise._util.provenance import MultisetHash, digest, fingerprint_of_answers
from tierwise._util.resources import check_memory
from tierwise._util.tasks import Progress, stream_tasks, track
from tierwise.data.counts import MOST_ITEMS_FOR_JOINT_COUNTS, BlockCounts, Counts, Numbers
from tierwise.data.weights import EffectiveNumber
from tierwise.errors import InputError, counted, instead, use
from tierwise.files.places import EncodedRankings, collapse
from tierwise.files.source import (
    FileFormat,
    Format,
    check_format,
    errors_name,
    find_source,
    recognise_format,
)
from tierwise.files.spellings import refuse_spellings
from tierwise.files.tables import in_order_of_appearance
from tierwise.tiers import Sizes, check_sizes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    import numpy.typing as npt

    from tierwise._util.types import Item, Places, Weights
    from tierwise.data.rankings import Rankings
    from tierwise.files.layouts import Roles
    from tierwise.files.options import ReadingNotes, TableOptions
    from tierwise.files.table_file import TableFile

    _Maker: TypeAlias = Callable[[EncodedRankings], Rankings]

# Long enough to outweigh handing a piece over, short enough that a lost one is soon done again.
_ROWS_OF_A_PIECE = 1 << 20
_ROWS_OF_A_CHUNK = 1 << 16
_SUFFIXES = ("*.parquet", "*.pq", "*.csv", "*.tsv")
_Result = TypeVar("_Result")


@dataclass(frozen=True)
class Piece:
    """A file with one row per answer, or some of the row groups of a Parquet file.

    Attributes
    ----------
    path
        The file.
    file_format
        Its format.
    groups
        The row groups; None is the whole file.
    """

    path: Path
    file_format: FileFormat
    groups: range | None = None

    def chunks(self, options: TableOptions) -> Iterator[EncodedRankings]:
        """Read rankings, one chunk in memory at a time."""
        with errors_name(self.path.name):
            table = self._open()
            yield from table.chunks(options, table.roles(options), _ROWS_OF_A_CHUNK)

    def layout(self, options: TableOptions) -> Roles:
        """Tell what the columns are for."""
        with errors_name(self.path.name):
            table = self._open()
            return table.roles(options)

    def notes(self, options: TableOptions) -> ReadingNotes:
        """Note how the first rows were understood."""
        with errors_name(self.path.name):
            return self._open().notes(options)

    def items(self, options: TableOptions) -> tuple[Item, ...]:
        """Find the items of orderings, in order of appearance."""
        with errors_name(self.path.name):
            table = self._open()
            first_cells = table.first_cells(options, table.roles(options), _ROWS_OF_A_CHUNK)
        return in_order_of_appearance(first_cells)

    def _open(self) -> TableFile:
        source = find_source(self.path)
        if self.file_format == "csv":
            from tierwise.files.csv import open_csv

            return open_csv(source)
        from tierwise.files.table_file import open_parquet

        return open_parquet(source, self.groups)


def find_pieces(path: str | PathLike[str], file_format: Format) -> tuple[Piece, ...]:
    """Find the files that a path, a folder or a pattern means, and cut them into pieces."""
    pieces = tuple(piece for file in _find_files(path) for piece in _cut(file, file_format))
    if not pieces:
        raise InputError(f"{fspath(path)} holds no rankings: it needs at least one row")
    return pieces


def _find_files(path: str | PathLike[str]) -> list[Path]:
    given = check_path(path)
    if given.is_dir():
        found = {file for suffix in _SUFFIXES for file in given.rglob(suffix)}
        # Writers of datasets put their own notes beside the data, under names like _metadata.
        files = sorted(file for file in found if not file.name.startswith(("_", ".")))
        if not files:
            raise InputError(
                f"the folder {given} holds no file of rankings: it needs files whose names end in "
                + ", ".join(suffix.removeprefix("*") for suffix in _SUFFIXES)
            )
        return files
    if given.exists():
        return [given]
    files = sorted(Path(file) for file in glob(fspath(path), recursive=True))  # noqa: PTH207 - takes whole paths
    if not files:
        raise InputError(f"no file matches {fspath(path)}: check the name and the folder")
    return files


def _cut(file: Path, file_format: Format) -> list[Piece]:
    source = find_source(file)
    known = recognise_format(source) if file_format == "auto" else file_format
    if known == "csv":
        return [Piece(file, known)]
    if known != "parquet":
        raise InputError(
            f"{source.name}: the {known} format cannot be read in chunks",
            [instead("read_rankings")],
        )
    from tierwise.files.table_file import rows_of_groups

    pieces: list[Piece] = []
    first, n_rows = 0, 0
    rows = rows_of_groups(source)
    for group, rows_of_group in enumerate(rows, start=1):
        n_rows += rows_of_group
        if n_rows >= _ROWS_OF_A_PIECE or (group == len(rows) and n_rows):
            pieces.append(Piece(file, known, range(first, group)))
            first, n_rows = group, 0
    return pieces


class IncompleteAnswersError(InputError):
    """Raised when places are to be counted but some answers are incomplete."""


class RankingScan:
    r"""Rankings in files, which are read when results are needed; `Rankings.scan` makes one.

    `fit`, `search` and `sample_posterior` take it instead of rankings.

    Attributes
    ----------
    path : str
        The file, folder or pattern that was given.
    pieces : tuple
        The parts of the files that are read in parallel.
    reading : ReadingNotes
        How the first rows of the first file were read. The number of answers is unknown until they
        are read. Columns about people stay in the files.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from tierwise import Rankings
    >>> folder = TemporaryDirectory()
    >>> for part in ("north.csv", "south.csv"):
    ...     _ = Path(folder.name, part).write_text("place 1,place 2\na,b\nb,a\na,b\n")
    >>> scan = Rankings.scan(folder.name)
    >>> scan.items
    ('a', 'b')
    >>> scan.counts().places.tolist()
    [[4, 2], [2, 4]]
    >>> scan.distinct()
    Rankings(6 rankings of 2 items, complete, 2 distinct)
    >>> folder.cleanup()
    """

    def __init__(
        self,
        path: str | PathLike[str],
        options: TableOptions,
        file_format: Format,
        rankings: type[Rankings],
    ) -> None:
        check_format(file_format)
        self.path = fspath(check_path(path))
        self._rankings = rankings
        self.pieces = find_pieces(path, file_format)
        roles = self.pieces[0].layout(options)
        self.reading = self.pieces[0].notes(options)
        # Settled by the first rows, so that no piece can be taken for something else.
        self._options = replace(options, layout=roles.layout)
        if roles.layout == "ranks" and options.items is None:
            self._options = replace(self._options, items=roles.names)

    @cached_property
    def items(self) -> tuple[Item, ...]:
        """The items; for orderings this takes a pass over the files, unless they were given."""
        with errors_name(Path(self.path).name):
            if self._options.items is not None:
                return check_items(self._options.items)
            found = self._work(_find_items, self._options, "finding the items")
            items = check_items(dict.fromkeys(item for items in found for item in items))
            if self._options.spellings == "ask":
                refuse_spellings(list(map(str, items)), "item", can_rename=False)
            return items

    def chunks(self) -> Iterator[Rankings]:
        """Read all rankings in order, one chunk in memory at a time."""
        options = self._complete_options
        for piece in self.pieces:
            yield from map(self._rankings.from_encoded, piece.chunks(options))

    def counts(self, *, workers: int = -1, progress: Progress = "auto") -> Counts:
        """Count complete rankings.

        Parameters
        ----------
        workers
            Number of threads; -1 means one per core. In a `parallel` block, its workers.
        progress
            "auto", "off" or a function; see `tierwise._util.tasks.track`.

        Returns
        -------
        Counts
            Place and joint counts. With too many items for joint counts, block counts take a pass
            over the files when needed.
        """
        if len(self.items) > MOST_ITEMS_FOR_JOINT_COUNTS:
            strict = self.blocks((1,) * len(self.items), workers=workers, progress=progress)
            return CountsOnDemand.make(self, strict)
        counted = self._work(
            _count, self._complete_options, "counting", workers=workers, progress=progress
        )
        return _total(counted, Counts.__add__)

    def blocks(
        self, sizes: Iterable[int], *, workers: int = -1, progress: Progress = "auto"
    ) -> BlockCounts:
        """Count complete rankings of any number of items for blocks of given sizes.

        Parameters
        ----------
        sizes
            The sizes of the blocks.
        workers, progress
            As in `counts`.
        """
        counted = self._work(
            _count_blocks,
            self._complete_options,
            "counting",
            check_sizes(sizes, len(self.items)),
            workers=workers,
            progress=progress,
        )
        return _total(counted, _sum_of_blocks)

    def distinct(self, *, workers: int = -1, progress: Progress = "auto") -> Rankings:
        """Read each distinct answer once, with its total weight.

        Memory grows with the number of distinct answers, not with the number of answers.

        Parameters
        ----------
        workers, progress
            As in `counts`.
        """
        tally = PatternTally(len(self.items))
        for patterns, weights in self._work(
            _gather, self._complete_options, "reading", workers=workers, progress=progress
        ):
            tally.add(patterns, weights)
        patterns, weights = tally.result()
        found = self._rankings(
            self.items,
            patterns,
            weights,
            unranked=self._options.unranked,
            weights_are=self._options.weights_are,
        )
        found.reading = self.reading
        return found

    def condensed(self) -> Rankings | Counts:
        """Return counts if every answer is complete, otherwise the distinct answers."""
        try:
            return self.counts()
        except IncompleteAnswersError:
            return self.distinct()

    def with_effective_weights(self, found: Rankings | Counts) -> Rankings | Counts:
        """Return the data as models count them, with survey weights scaled.

        The effective number of answers depends on every single weight, so survey weights take
        another pass over the files.
        """
        said = self._options.weights_are
        if said == "counts" or (said is None and found.pair_counts.dtype.kind == "i"):
            return found
        if isinstance(found, CountsOnDemand):
            raise InputError(
                "survey weights are not supported for files with so many items",
                [
                    instead("read_rankings"),
                    use("when scanning, if they are counts", weights_are="counts"),
                ],
            )
        sums = sum(self._work(_add_up_weights, self._complete_options, "adding up weights"))
        n_answers, total, squares = np.asarray(sums).tolist()
        number = EffectiveNumber(total**2 / squares, int(n_answers))
        if isinstance(found, Counts):
            scale = float(number) / total
            return Counts(found.items, found.places * scale, found.joint * scale, number)
        return found.with_scaled_weights(found.weights * (float(number) / total), int(n_answers))

    def fingerprint(self) -> str:
        """Return a sha256 hex digest of all that a likelihood depends on.

        It equals that of the same answers in memory. This reads the files once.
        """
        answers = MultisetHash()
        unranked = None
        for chunk in self.chunks():
            answers.add(chunk.places, chunk.weights)
            unranked = unranked or chunk.unranked
        return fingerprint_of_answers(self.items, unranked, answers)

    @property
    def _complete_options(self) -> TableOptions:
        return replace(self._options, items=self.items)

    def _work(
        self,
        function: Callable[..., _Result],
        options: TableOptions,
        description: str,
        *more: Any,
        workers: int = -1,
        progress: Progress = "auto",
    ) -> Iterator[_Result]:
        """Do something with every piece, side by side, and pass the results on in order."""
        # The method, not the class: joblib would put an argument as large as a class onto a single
        # worker of a Dask cluster, where it is lost if that one dies.
        tasks = [(self._rankings.from_encoded, piece, options, *more) for piece in self.pieces]
        results = stream_tasks(function, tasks, workers=workers, prefer="threads")
        return track(results, description, len(tasks), progress)

    def __repr__(self) -> str:
        n_files = len({piece.path for piece in self.pieces})
        return f"RankingScan({self.path!r}, {counted(n_files, 'file')})"


@dataclass(frozen=True, eq=False)
class CountsOnDemand(Counts):
    """Counts of too many items for joint counts: those of blocks take a pass over the files.

    Attributes
    ----------
    scan
        The files.
    known
        The counts of blocks that were there already, by their sizes.
    """

    scan: RankingScan
    known: Mapping[tuple[int, ...], BlockCounts]

    def __post_init__(self) -> None:
        """Take what was counted: there are no joint counts to check."""

    @classmethod
    def make(cls, scan: RankingScan, strict: BlockCounts) -> CountsOnDemand:
        """Start from the counts of blocks with a place each."""
        no_joint = np.empty((0,) * 4, dtype=strict.precedence.dtype)
        known = {strict.sizes: strict}
        return cls(strict.items, strict.membership, no_joint, strict.n_rankings, scan, known)

    def __add__(self, other: Counts) -> Counts:
        raise InputError("counts of so many items cannot be added: scan all files together")

    def fingerprint(self) -> str:
        """Return a sha256 hex digest of the answers, which all counts are made of."""
        return digest("counts on demand", self.scan.fingerprint())

    def blocks(self, sizes: Iterable[int]) -> BlockCounts:
        """Return the counts for places cut into blocks of given sizes."""
        checked = check_sizes(sizes, len(self.items))
        return self.known[checked] if checked in self.known else self.scan.blocks(checked)


def _total(
    counted: Iterable[_Result | None], add: Callable[[_Result, _Result], _Result]
) -> _Result:
    """Add the counts of pieces; None is a piece in which nothing counts."""
    some = (counts for counts in counted if counts is not None)
    first = next(some, None)
    if first is None:
        raise InputError("all weights are 0: at least one ranking must count")
    return reduce(add, some, first)


def _find_items(_make: _Maker, piece: Piece, options: TableOptions) -> tuple[Item, ...]:
    """Find the items of orderings."""
    return piece.items(options)


def _count(make: _Maker, piece: Piece, options: TableOptions) -> Counts | None:
    """Count places and pairs of places; None if nothing in the piece counts."""
    chunks = _complete_chunks(make, piece, options)
    first = next(chunks, None)
    return None if first is None else Counts.from_chunks(chain([first], chunks))


def _count_blocks(
    make: _Maker, piece: Piece, options: TableOptions, sizes: Sizes
) -> BlockCounts | None:
    """Count for blocks of given sizes; None if nothing in the piece counts."""
    total: BlockCounts | None = None
    for chunk in _complete_chunks(make, piece, options):
        counted = _blocks_of(chunk, sizes)
        total = counted if total is None else _sum_of_blocks(total, counted)
    return total


def _add_up_weights(make: _Maker, piece: Piece, options: TableOptions) -> npt.NDArray[np.float64]:
    """Return how many answers there are, and the sums of their weights and of the squares."""
    sums = np.zeros(3)
    for chunk in map(make, piece.chunks(options)):
        weights = chunk.weights.astype(np.float64)
        sums += np.count_nonzero(weights), weights.sum(), weights @ weights
    return sums


def _gather(make: _Maker, piece: Piece, options: TableOptions) -> tuple[Places, Weights]:
    """Find the distinct answers, and the weight of each."""
    tally = PatternTally(len(options.items or ()))
    for chunk in map(make, piece.chunks(options)):
        tally.add(chunk.places, chunk.weights)
    return tally.result()


def _sum_of_blocks(first: BlockCounts, second: BlockCounts) -> BlockCounts:
    """Add counts of the same items and sizes."""
    return BlockCounts(
        first.items,
        first.sizes,
        first.membership + second.membership,
        first.precedence + second.precedence,
        first.n_rankings + second.n_rankings,
    )


def _complete_chunks(make: _Maker, piece: Piece, options: TableOptions) -> Iterator[Rankings]:
    for chunk in map(make, piece.chunks(options)):
        if not chunk.is_complete:
            raise IncompleteAnswersError(
                f"{piece.path.name} holds answers that are incomplete or have ties, so places "
                "cannot be counted: use distinct() to read each distinct answer once"
            )
        yield chunk


def _blocks_of(chunk: Rankings, sizes: Sizes) -> BlockCounts:
    """Count complete rankings as they come: where there are many items, hardly two are alike."""
    from tierwise._kernels import counting

    n_items = len(chunk.items)
    blocks = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)[chunk.places]
    membership: Numbers = np.zeros((n_items, len(sizes)), dtype=chunk.weights.dtype)
    precedence: Numbers = np.zeros((n_items, n_items), dtype=chunk.weights.dtype)
    counting.add_place_counts(blocks, chunk.weights, membership)
    counting.add_block_pair_counts(blocks, chunk.weights, precedence)
    return BlockCounts(chunk.items, sizes, membership, precedence, chunk.n_rankings)


class PatternTally:
    """Distinct answers and their weights, in order of first appearance.

    Pieces wait until they are as many as what is known, and are then merged with it: so every
    answer is merged only a few times, however many pieces there are.
    """

    def __init__(self, n_items: int) -> None:
        self._patterns: Places = np.empty((0, n_items), dtype=np.int32)
        self._weights: Weights = np.empty(0, dtype=np.int64)
        self._waiting: list[tuple[Places, Weights]] = []
        self._n_waiting = 0

    def add(self, patterns: Places, weights: Weights) -> None:
        """Add answers, distinct or not."""
        self._waiting.append((patterns, weights))
        self._n_waiting += len(patterns)
        if self._n_waiting > max(len(self._patterns), 1 << 16):
            self._merge()

    def result(self) -> tuple[Places, Weights]:
        """Return the distinct answers and their weights."""
        self._merge()
        return self._patterns, self._weights

    def _merge(self) -> None:
        together = [(self._patterns, self._weights), *self._waiting]
        self._patterns, pattern_of = collapse(np.concatenate([rows for rows, _ in together]))
        weights = np.concatenate([weights for _, weights in together])
        self._weights = np.zeros(len(self._patterns), dtype=weights.dtype)
        np.add.at(self._weights, pattern_of, weights)
        self._waiting, self._n_waiting = [], 0
        # Merging holds the old, the new and their union at once.
        check_memory(
            3 * self._patterns.nbytes,
            f"more than {len(self._patterns):,} distinct answers",
            "read a sample of the answers, or keep fewer items or only the first places, so "
            "more answers are equal",
        )
