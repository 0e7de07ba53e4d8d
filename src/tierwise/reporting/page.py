"""The page: what was computed, put into the template."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING

from tierwise._util.wording import counted
from tierwise.reporting import tables, wording
from tierwise.reporting.figures import draw_figures
from tierwise.reporting.groups import describe_groups

if TYPE_CHECKING:
    from tierwise.reporting.analysis import Analysis

_PAPER = "Piancastelli, L. S. C. and Friel, N., Clustered Mallows Model"


def render(analysis: Analysis, title: str | None) -> str:
    """Return the page as HTML."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader("tierwise.reporting"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    folder = files("tierwise.reporting") / "templates"
    script = (folder / "report.js").read_text(encoding="utf-8")
    template = environment.get_template("report.html")
    return template.render(
        title=title or default_title(analysis),
        # The script and the style are the package's own.
        script=Markup(script),
        # Only this script may run: whatever an item is called, it stays text.
        script_hash=b64encode(sha256(script.encode()).digest()).decode(),
        style=Markup((folder / "report.css").read_text(encoding="utf-8")),
        tiers=tables.tier_list(analysis.fit.tiers, tables.probabilities_by_item(analysis)),
        opening=wording.opening(analysis),
        about_data=wording.about_data(analysis),
        about_sizes=wording.about_sizes(analysis),
        about_fit=analysis.check.verdict_in_words(),
        diagnostics=wording.diagnostics(analysis),
        figures=draw_figures(analysis),
        items=tables.items_table(analysis),
        pairs=tables.pairs_table(analysis),
        sizes=tables.sizes_table(analysis),
        strict=tables.strict_table(analysis),
        findings=tables.findings_table(analysis),
        groups=None if analysis.groups is None else describe_groups(analysis.groups),
        computed=_computed(analysis),
        paper=_PAPER,
        version=analysis.provenance.version,
    )


def default_title(analysis: Analysis) -> str:
    """Return a title that says what the page is about."""
    return f"Tiers of {counted(len(analysis.data.items), 'item')}"


def _computed(analysis: Analysis) -> list[tuple[str, str]]:
    """Return how the page was made: a name and a statement each."""
    made, fit, found = analysis.provenance, analysis.fit, analysis.search
    sizes = "given" if found is None else f"found by {found.method} search"
    return [
        ("program", f"tierwise {made.version}"),
        ("seed", "none was given" if made.seed is None else str(made.seed)),
        ("distance", fit.distance),
        ("sizes", f"{', '.join(map(str, fit.sizes))} ({sizes})"),
        ("tiers", f"{fit.method} ({'exact' if fit.optimal else 'not proved best'})"),
        (
            "partition function",
            f"{fit.partition_method} ({'estimated' if fit.log_likelihood_error else 'exact'})",
        ),
        ("time", counted(round(made.seconds, 1), "second")),
    ]
