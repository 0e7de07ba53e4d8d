"""No table that is made by rule is read wrongly: it is read rightly, or asked about."""

import pytest

from tests.files.made_tables import count


@pytest.mark.thorough
def test_some_tables():
    found, named = count(range(120))
    assert found["wrong"] == 0, named
    assert found["read"] > 90


@pytest.mark.slow
def test_two_thousand_tables():
    found, named = count(range(2000))
    assert found["wrong"] == found["refused"] == 0, named
