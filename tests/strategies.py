"""Random rankings for property tests."""

from hypothesis import strategies as st

from tierwise import Rankings
from tierwise.errors import has_control_characters

# Commas, quotes, braces, brackets and letters from elsewhere; no space at the ends of a name.
names = st.text(
    alphabet=st.one_of(
        st.sampled_from("ab ,;'\"{}[]#:|\\-é寿🍣"),
        st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp")),
    ),
    min_size=1,
    max_size=6,
).filter(lambda name: name == name.strip() and not has_control_characters(name))


@st.composite
def rankings(draw, *, item_names=names, with_ties=True, incomplete=True, with_weights=True):
    """Draw rankings of two to five items, in the order in which a reader meets them."""
    items = draw(st.lists(item_names, min_size=2, max_size=5, unique=True))
    n_rows = draw(st.integers(1, 6))
    rows = []
    for _ in range(n_rows):
        order = draw(st.permutations(items))
        if incomplete:
            order = order[: draw(st.integers(1, len(items)))]
        row, position = [], 0
        while position < len(order):
            size = draw(st.integers(1, len(order) - position)) if with_ties else 1
            group = order[position : position + size]
            row.append(group[0] if size == 1 else group)
            position += size
        rows.append(row)
    weights = None
    if with_weights:
        weights = draw(st.lists(st.integers(1, 9), min_size=n_rows, max_size=n_rows))
    unranked = draw(st.sampled_from(["below", "anywhere"]))
    return Rankings.from_orderings(rows, items=items, weights=weights, unranked=unranked)
