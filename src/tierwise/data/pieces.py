"""What is done with one piece of the data, by whichever thread, process or machine gets it."""

from collections.abc import Iterator
from itertools import chain

import numpy as np

from tierwise._kernels import counting
from tierwise.data.counts import BlockCounts, Counts, Numbers
from tierwise.data.encoding import Places, Weights
from tierwise.data.pattern_tally import PatternTally
from tierwise.data.rankings import Rankings
from tierwise.errors import InputError
from tierwise.files.file_pieces import Piece
from tierwise.files.layouts import TableOptions
from tierwise.tiers.ordered_partition import Item
from tierwise.tiers.sizes import Sizes


class IncompleteAnswersError(InputError):
    """Places were to be counted, but some answers leave places open."""


def find_items(piece: Piece, options: TableOptions) -> tuple[Item, ...]:
    """Find the items of orderings."""
    return piece.items(options)


def count(piece: Piece, options: TableOptions) -> Counts | None:
    """Count places and pairs of places; None if nothing in the piece counts."""
    chunks = _complete_chunks(piece, options)
    first = next(chunks, None)
    return None if first is None else Counts.from_chunks(chain([first], chunks))


def count_blocks(piece: Piece, options: TableOptions, sizes: Sizes) -> BlockCounts | None:
    """Count for blocks of given sizes; None if nothing in the piece counts."""
    total: BlockCounts | None = None
    for chunk in _complete_chunks(piece, options):
        counted = _blocks_of(chunk, sizes)
        total = counted if total is None else sum_of_blocks(total, counted)
    return total


def gather(piece: Piece, options: TableOptions) -> tuple[Places, Weights]:
    """Find the distinct answers, and the weight of each."""
    tally = PatternTally(len(options.items or ()))
    for chunk in piece.chunks(options):
        tally.add(chunk.places, chunk.weights)
    return tally.result()


def sum_of_blocks(first: BlockCounts, second: BlockCounts) -> BlockCounts:
    """Add counts of the same items and sizes."""
    return BlockCounts(
        first.items,
        first.sizes,
        first.membership + second.membership,
        first.precedence + second.precedence,
        first.n_rankings + second.n_rankings,
    )


def _complete_chunks(piece: Piece, options: TableOptions) -> Iterator[Rankings]:
    for chunk in piece.chunks(options):
        if not chunk.is_complete:
            raise IncompleteAnswersError(
                f"{piece.path.name} holds answers that are incomplete or have ties, so places "
                "cannot be counted: use distinct() to read each distinct answer once"
            )
        yield chunk


def _blocks_of(chunk: Rankings, sizes: Sizes) -> BlockCounts:
    """Count complete rankings as they come: where there are many items, hardly two are alike."""
    n_items = len(chunk.items)
    blocks = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)[chunk.places]
    membership: Numbers = np.zeros((n_items, len(sizes)), dtype=chunk.weights.dtype)
    precedence: Numbers = np.zeros((n_items, n_items), dtype=chunk.weights.dtype)
    counting.add_place_counts(blocks, chunk.weights, membership)
    counting.add_block_pair_counts(blocks, chunk.weights, precedence)
    return BlockCounts(chunk.items, sizes, membership, precedence, chunk.n_rankings)
