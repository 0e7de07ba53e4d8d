"""Rankings that stay in their files: counted piece by piece, in memory that does not grow."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from os import PathLike, fspath
from typing import Any, TypeVar

import numpy as np

from tierwise._util.fingerprint import MultisetHash, digest
from tierwise._util.progress import Progress, track
from tierwise._util.tasks import stream_tasks
from tierwise.data import pieces as piecework
from tierwise.data.counts import MOST_ITEMS_FOR_JOINT_COUNTS, BlockCounts, Counts
from tierwise.data.encoding import Ties, check_items
from tierwise.data.pattern_tally import PatternTally
from tierwise.data.pieces import IncompleteAnswersError
from tierwise.data.rankings import Rankings, Unranked, fingerprint_of_answers
from tierwise.errors import InputError
from tierwise.files.file_pieces import find_pieces
from tierwise.files.layouts import Columns, Layout, TableOptions
from tierwise.files.recognise import Format, check_format
from tierwise.tiers.ordered_partition import Item
from tierwise.tiers.sizes import check_sizes

_Result = TypeVar("_Result")


class RankingScan:
    r"""Rankings in files, which are read when something is asked; `Rankings.scan` makes one.

    `fit`, `search` and `sample_posterior` take it in the place of rankings.

    Attributes
    ----------
    path : str
        The file, folder or pattern that was given.
    pieces : tuple
        The parts of the files that are read on their own, side by side.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
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
        self, path: str | PathLike[str], options: TableOptions, file_format: Format
    ) -> None:
        check_format(file_format)
        self.path = fspath(path)
        self.pieces = find_pieces(path, file_format)
        roles, columns = self.pieces[0].layout(options)
        # Settled by the first rows, so that no piece can be taken for something else.
        self._options = replace(options, layout=roles.layout)
        if roles.layout == "ranks" and options.items is None:
            self._options = replace(self._options, items=columns)

    @cached_property
    def items(self) -> tuple[Item, ...]:
        """The items; those of orderings take a pass over the files, unless they were given."""
        if self._options.items is not None:
            return check_items(self._options.items)
        found = self._work(piecework.find_items, self._options, "finding the items")
        return check_items(dict.fromkeys(item for items in found for item in items))

    def chunks(self) -> Iterator[Rankings]:
        """Read all rankings in order, of which only a chunk is in memory at a time."""
        options = self._complete_options
        for piece in self.pieces:
            yield from piece.chunks(options)

    def counts(self, *, workers: int = -1, progress: Progress = "auto") -> Counts:
        """Count complete rankings.

        Parameters
        ----------
        workers
            Number of threads; -1 is one a core. In a `parallel` block, its workers.
        progress
            "auto", "off" or a function; see `tierwise._util.progress.track`.

        Returns
        -------
        Counts
            Place and joint counts. Where there are too many items for joint counts, those of
            blocks are counted when they are asked for, in a pass over the files.
        """
        if len(self.items) > MOST_ITEMS_FOR_JOINT_COUNTS:
            strict = self.blocks((1,) * len(self.items), workers=workers, progress=progress)
            return CountsOnDemand.make(self, strict)
        counted = self._work(
            piecework.count, self._complete_options, "counting", workers=workers, progress=progress
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
            As for `counts`.
        """
        counted = self._work(
            piecework.count_blocks,
            self._complete_options,
            "counting",
            check_sizes(sizes, len(self.items)),
            workers=workers,
            progress=progress,
        )
        return _total(counted, piecework.sum_of_blocks)

    def distinct(self, *, workers: int = -1, progress: Progress = "auto") -> Rankings:
        """Read each distinct answer once, with the weight of all that are like it.

        Memory grows with the number of distinct answers, not with the number of answers.

        Parameters
        ----------
        workers, progress
            As for `counts`.
        """
        tally = PatternTally(len(self.items))
        for patterns, weights in self._work(
            piecework.gather, self._complete_options, "reading", workers=workers, progress=progress
        ):
            tally.add(patterns, weights)
        patterns, weights = tally.result()
        return Rankings(self.items, patterns, weights, unranked=self._options.unranked)

    def condensed(self) -> Rankings | Counts:
        """Return counts if every answer is complete, and the distinct answers if not."""
        try:
            return self.counts()
        except IncompleteAnswersError:
            return self.distinct()

    def fingerprint(self) -> str:
        """Return a sha256 hex digest of all that a likelihood depends on.

        It is that of the same answers in memory. The files are read once for it.
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
        tasks = [(piece, options, *more) for piece in self.pieces]
        results = stream_tasks(function, tasks, workers=workers, prefer="threads")
        return track(results, description, len(tasks), progress)

    def __repr__(self) -> str:
        n_files = len({piece.path for piece in self.pieces})
        return f"RankingScan({self.path!r}, {n_files:,} {'file' if n_files == 1 else 'files'})"


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

    @classmethod
    def make(cls, scan: RankingScan, strict: BlockCounts) -> "CountsOnDemand":
        """Start from the counts of blocks with a place each."""
        no_joint = np.empty((0,) * 4, dtype=strict.precedence.dtype)
        known = {strict.sizes: strict}
        return cls(strict.items, strict.membership, no_joint, strict.n_rankings, scan, known)

    def __add__(self, other: Counts) -> Counts:
        raise InputError("counts of so many items do not add: scan all files together")

    def fingerprint(self) -> str:
        """Return a sha256 hex digest of the answers, which all counts are made of."""
        return digest("counts on demand", self.scan.fingerprint())

    def blocks(self, sizes: Iterable[int]) -> BlockCounts:
        """Return the counts for places cut into blocks of given sizes."""
        checked = check_sizes(sizes, len(self.items))
        return self.known[checked] if checked in self.known else self.scan.blocks(checked)


def scan_files(
    path: str | PathLike[str],
    *,
    format: Format = "auto",  # noqa: A002 - the word users look for
    layout: Layout = "auto",
    unranked: Unranked | None = None,
    ties: Ties = "error",
    items: Iterable[Item] | None = None,
    weights: str | None = None,
    assessor: Columns | None = None,
) -> RankingScan:
    """Find files of rankings and how they are laid out; no more than the first rows is read.

    Parameters
    ----------
    path
        A file, a folder of files or a pattern for their names.
    format, layout, unranked, ties, items, weights, assessor
        As for `tierwise.read_rankings`.
    """
    options = TableOptions.make(
        items=items,
        layout=layout,
        unranked=unranked,
        ties=ties,
        weights=weights,
        assessor=assessor,
    )
    return RankingScan(path, options, format)


def _total(
    counted: Iterable[_Result | None], add: Callable[[_Result, _Result], _Result]
) -> _Result:
    """Add the counts of pieces, of which some may be None: nothing counts there."""
    some = (counts for counts in counted if counts is not None)
    first = next(some, None)
    if first is None:
        raise InputError("all weights are 0: at least one ranking must count")
    return reduce(add, some, first)
