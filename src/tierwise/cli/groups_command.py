"""``tierwise groups``: whether people differ, by what is known of them."""

from typing import Annotated

import typer

from tierwise.cli import options, printing, reading

_GROUPS = "The groups"

EXAMPLES = """
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
        typer.Option(
            metavar="COLUMNS",
            help="Columns of the file that hold no answers, such as age,region.",
            show_default=False,
            rich_help_panel=_GROUPS,
        ),
    ],
    smallest: Annotated[
        int,
        typer.Option(
            min=1, help="The least number of answers in a branch.", rich_help_panel=_GROUPS
        ),
    ] = 10,
    permutations: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=0,
            help="Deal out what is known of people N times anew before each split, which is not "
            "made if chance does as well; 0 is without this check.",
            rich_help_panel=_GROUPS,
        ),
    ] = 199,
    figure: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Draw the tree into a file, such as tree.svg or tree.png.",
            show_default=False,
            rich_help_panel=_GROUPS,
        ),
    ] = None,
    seed: options.Seed = None,
    *,
    json: options.Json = False,
    out: options.Out = None,
    quiet: options.Quiet = False,
) -> None:
    """Ask whether people differ: tiers by region, age and whatever else is known of them.

    Each column is compared by itself; then people are split by a tree, wherever their tiers differ.
    """
    from tierwise.data.kinds import check_data
    from tierwise.data.rankings import Rankings
    from tierwise.groups.compare import compare_groups
    from tierwise.groups.tree import group_tree

    rankings = check_data(answers, "groups", Rankings)
    columns = options.parse_names(by)
    with printing.working("comparing groups", quiet=quiet):
        compared = compare_groups(rankings, columns, rng=seed)
    with printing.working("growing the tree", quiet=quiet):
        tree = group_tree(rankings, columns, smallest=smallest, permutations=permutations, rng=seed)
    if figure is not None:
        from tierwise.plots.groups import group_tree as draw

        drawing = draw(tree).get_figure(root=True)
        assert drawing is not None
        drawing.savefig(figure)
    if json:
        printing.print_json({"comparison": compared.to_dict(), "tree": tree.to_dict()}, out)
        return
    width = printing.width_of_output(out)
    printing.print_result(
        [
            printing.heading("Do groups differ?"),
            compared.summary(width),
            printing.heading("A tree of people"),
            tree.summary(width),
        ],
        out,
    )
