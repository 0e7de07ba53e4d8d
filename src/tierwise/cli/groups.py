"""Commands about groups of people: ``tierwise mixture`` and ``tierwise groups``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from tierwise._util.names import split_names
from tierwise.cli import options, printing, reading

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table as RichTable

    from tierwise.mixture.result import Mixture

_GROUPS = "The groups"
_FOLDS = 5

MIXTURE_EXAMPLES = """
Examples:

tierwise mixture survey.csv --seed 1

tierwise mixture survey.csv --groups 2-4 --sizes 1,2,3 --noise uniform

tierwise mixture survey.csv --groups 3 --by region
"""


@reading.reads_file
def mixture_command(
    answers: reading.Answers,
    groups: Annotated[
        str,
        options.option(
            _GROUPS, "Number of groups; if you give several, they are compared.", "3|1-6|2,4"
        ),
    ] = "1-6",
    sizes: options.Sizes = None,
    family: options.Family = "auto",
    distance: options.Distance = "auto",
    noise: Annotated[
        Literal["none", "uniform"],
        options.option(_GROUPS, "Whether to add a group of people who follow no tiers."),
    ] = "none",
    criterion: Annotated[
        Literal["bic", "icl", "held-out"],
        options.option(_GROUPS, "Criterion that chooses the number of groups."),
    ] = "bic",
    starts: Annotated[
        int,
        options.option(_GROUPS, "Number of random starts.", min=1),
    ] = 20,
    covariate: Annotated[
        Path | None,
        options.option(
            _GROUPS, "Compare the groups by the values in this file, one per answer.", "FILE"
        ),
    ] = None,
    by: Annotated[
        str | None,
        options.option(
            _GROUPS,
            "Compare the groups by a column of the file that does not hold answers.",
            "COLUMN",
        ),
    ] = None,
    workers: options.Workers = None,
    seed: options.Seed = None,
    *,
    json: options.Json = False,
    out: options.Out = None,
    quiet: options.Quiet = False,
) -> None:
    """Divide people into groups, each with its own tiers, and find how many groups there are."""
    from tierwise.data.kinds import check_data
    from tierwise.data.preferences import Preferences
    from tierwise.data.rankings import Rankings
    from tierwise.mixture.fit import fit_mixture

    answers = check_data(answers, "tierwise mixture", Rankings, Preferences)
    # Fewer rankings than this cannot be held out in turn; an explicit request raises an error.
    few = answers.n_rankings < _FOLDS and criterion != "held-out"
    found = fit_mixture(
        answers,
        options.parse_groups(groups),
        "search" if sizes is None else options.parse_sizes(sizes),
        distance,
        family=family,
        noise=noise,
        criterion=criterion,
        starts=starts,
        folds=None if few else _FOLDS,
        workers=workers,
        progress=printing.progress(quiet=quiet),
        rng=seed,
    )
    columns = None
    if by is not None:
        columns = found.to_frame(by, backend="pyarrow").to_pydict()
    elif covariate is not None:
        columns = _relate(found, covariate)
    related = {} if columns is None else {"covariate": columns}

    def text(width: int) -> "list[RenderableType]":
        if columns is None:
            return [found.summary(width)]
        head = printing.heading("Share of each group, by value")
        return [found.summary(width), head, _table(columns)]

    printing.give(printing.given(found, text=text, **related), out, json=json, quiet=quiet)


def _relate(found: "Mixture", covariate: Path) -> dict[str, list[Any]]:
    from tierwise.errors import InputError

    try:
        values = covariate.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise InputError(f"cannot read {covariate}: {error.strerror}") from None
    table: dict[str, list[Any]] = found.to_frame(values, backend="pyarrow").to_pydict()
    return table


def _table(columns: dict[str, list[Any]]) -> "RichTable":
    table = printing.new_table()
    for name in columns:
        table.add_column(name, justify="left" if name == "value" else "right")
    for value, number, *shares in zip(*columns.values(), strict=True):
        shown = "missing" if value is None else str(value)
        table.add_row(shown, f"{number:,}", *(f"{share:.1%}" for share in shares))
    return table


GROUPS_EXAMPLES = """
Examples:

tierwise groups survey.csv --by region

tierwise groups survey.csv --by age,region,sex --smallest 50 --seed 1

tierwise groups survey.csv --by age,region --figure tree.svg
"""


@reading.reads_file
def groups_command(
    answers: reading.Answers,
    by: Annotated[
        str,
        options.option(
            _GROUPS, "Columns of the file that do not hold answers, such as age,region.", "COLUMNS"
        ),
    ],
    family: options.FamilyOfGroups = "auto",
    smallest: Annotated[
        int,
        options.option(_GROUPS, "Smallest number of answers in a branch.", min=1),
    ] = 10,
    permutations: Annotated[
        int,
        options.option(
            _GROUPS,
            "Before each split, permute the columns N times; if chance splits as well, do not "
            "split. 0 skips this check.",
            "N",
            min=0,
        ),
    ] = 199,
    figure: Annotated[
        Path | None,
        options.figure_to_write(_GROUPS, "Draw the tree."),
    ] = None,
    seed: options.Seed = None,
    *,
    json: options.Json = False,
    out: options.Out = None,
    quiet: options.Quiet = False,
) -> None:
    """Test whether people differ: tiers by region, age and other columns.

    First each column is compared alone; then a tree splits people wherever their tiers differ.
    """
    from tierwise._util.results import card_of
    from tierwise._util.tables import Table
    from tierwise.data.kinds import check_data
    from tierwise.data.rankings import Rankings
    from tierwise.groups.compare import compare_groups
    from tierwise.groups.tree import group_tree

    rankings = check_data(answers, "groups", Rankings)
    columns = split_names(by)
    with printing.working("comparing groups", quiet=quiet):
        compared = compare_groups(rankings, columns, family=family, rng=seed)
    with printing.working("growing the tree", quiet=quiet):
        tree = group_tree(
            rankings,
            columns,
            family=compared.family,
            smallest=smallest,
            permutations=permutations,
            rng=seed,
        )
    if figure is not None:
        from tierwise.plots.groups import group_tree as draw

        printing.save_figure(draw(tree), figure, quiet=quiet)
    result = printing.Given(
        lambda: {"comparison": compared.to_dict(), "tree": tree.to_dict()},
        lambda width: [
            printing.heading("Do groups differ?"),
            compared.summary(width),
            printing.heading("A tree of people"),
            tree.summary(width),
        ],
        [card_of(compared), card_of(tree)],
        lambda: Table.of(compared.to_frame(backend="pyarrow").to_pydict()),
    )
    printing.give(result, out, json=json, quiet=quiet)
