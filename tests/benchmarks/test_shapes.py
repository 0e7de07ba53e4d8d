"""The page of the shapes of real data."""

from benchmarks.shapes import SHAPES, page_of


def figures(**changed):
    plain = {
        "seconds": 4.0,
        "core_seconds": 2.0,
        "megabytes": 300.0,
        "said": "",
        "effective": 500.0,
        "settled": True,
        "date": "2026-11-17",
    }
    return plain | changed


def test_page_has_a_line_for_each_shape_measured_or_not():
    first, second = SHAPES[:2]
    late = figures(seconds=None, megabytes=None, core_seconds=90.0, effective=None, settled=None)
    page = page_of({first.name: figures(), second.name: late})
    assert (
        f"| {first.name} | {first.wanted:g} s | 4.0 s | 2.0 s | 300 MB | 500 | 250 | yes |" in page
    )
    assert f"| {second.name} | {second.wanted:g} s |  | over 90 s |" in page
    assert page.count("| not yet |") == len(SHAPES) - 2
    assert "How times grow" not in page


def test_growth_stands_beside_what_it_grew_from():
    first = SHAPES[0]
    kept = {first.name: figures(), f"{first.name} [items]": figures(core_seconds=5.0)}
    assert f"| {first.name} | 2.0 s | 5.0 s |  |" in page_of(kept)


def test_first_uses_have_a_section_once_they_are_measured():
    assert "## A first use" not in page_of({})
    page = page_of({"demo [first use]": figures(seconds=9.0)})
    assert "| tierwise demo | 9.0 s | 2.0 s | 2026-11-17 |" in page
