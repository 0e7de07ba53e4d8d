"""The format of the sushi preference sets: one line per answer, items by number from 0."""

from tierwise._util.types import Unranked
from tierwise._util.wording import quoted
from tierwise.errors import InputError
from tierwise.files.places import EncodedRankings, check_memory_of_places, encode_orderings
from tierwise.files.source import Source


def read_sushi(source: Source, unranked: Unranked | None) -> EncodedRankings:
    """Read orderings: first the number of items and 1, then lines ``0 k item_1 ... item_k``."""
    rows: list[list[int]] = []
    line_of_row: list[int] = []
    n_items: int | None = None
    for number, line in enumerate(source.text_lines(), start=1):
        if not line.strip():
            continue
        try:
            numbers = [int(word) for word in line.split()]
        except ValueError:
            raise InputError(
                f"{source.line(number)} holds something that is not a whole number: {quoted(line)}"
            ) from None
        if n_items is None:
            if len(numbers) != 2 or numbers[1] != 1:
                raise InputError(
                    f"{source.line(number)}: a file in the sushi format begins with the number of "
                    f"items and 1, such as '10 1'; got {quoted(line)}"
                )
            n_items = numbers[0]
            check_memory_of_places(1, n_items)
            continue
        if len(numbers) < 2 or numbers[0] != 0 or numbers[1] != len(numbers) - 2:
            raise InputError(
                f"{source.line(number)} must be 0, the number of items listed, and the items, "
                f"best first; got {quoted(line)}"
            )
        rows.append(numbers[2:])
        line_of_row.append(number)

    def name_row(row: int) -> str:
        return source.line(line_of_row[row])

    items, places = encode_orderings(rows, range(n_items or 0), name_row)
    return EncodedRankings(items, places, None, unranked, name_row)
