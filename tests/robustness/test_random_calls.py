"""Public functions, called at random, give what can be used, or refuse: a short run and a longer.

``python -m tests.robustness.random_calls`` is a long one.
"""

import inspect

import pytest

import tierwise as tw
from tests.robustness import random_calls, random_options, random_uses
from tierwise import plots


@pytest.mark.parametrize("name", sorted(random_options.OPTIONS))
def test_every_option_is_drawn(name):
    """A new option of a public function is one more line among those that are drawn."""
    parameters = list(inspect.signature(getattr(tw, name)).parameters)
    n_given = (name not in random_options.WITHOUT_DATA) + (name in random_options.SECOND)
    drawn = {*random_options.OPTIONS[name], *random_options.FIXED, *parameters[:n_given]}
    assert set(parameters) <= drawn
    assert set(random_options.OPTIONS[name]) <= set(parameters)


def test_every_function_and_figure_is_drawn():
    functions = {name for name in tw.__all__ if inspect.isfunction(getattr(tw, name))}
    assert functions == set(random_options.OPTIONS) | random_options.NOT_DRAWN
    drawn = set().union(*random_uses.FIGURES.values(), *random_uses.FIGURES_OF_DATA.values())
    assert drawn <= set(plots.__all__)


def test_a_handful_of_calls():
    assert [str(one) for one in map(random_calls.call, range(6)) if one.is_fault] == []


@pytest.mark.slow
@pytest.mark.timeout(0)  # each call has a limit of its own
def test_two_hundred_calls():
    outcomes = [random_calls.call(number) for number in range(12, 212)]
    assert [str(one) for one in outcomes if one.is_fault] == []
    # Where most is refused, little is tested.
    assert sum(one.kind == "result" for one in outcomes) > 80
