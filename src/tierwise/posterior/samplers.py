"""What one iteration of a chain does, by what was asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tierwise.data.preferences import Preferences
from tierwise.posterior import exact
from tierwise.posterior.augmented import Augmented
from tierwise.posterior.chain import Moves
from tierwise.posterior.exchange import ExchangeTheta
from tierwise.posterior.integrated import IntegratedWalk
from tierwise.posterior.moves import DrawTheta, SwitchTiers
from tierwise.posterior.open_target import OpenTarget
from tierwise.posterior.pseudo import PseudoLikelihood, PseudoSwitchTiers, PseudoTheta
from tierwise.posterior.sizes_moves import ChangeSizes
from tierwise.posterior.summed_moves import ChangeOpenSizes, SwitchOpenTiers, WalkTheta
from tierwise.posterior.weights import tabulate_weights

if TYPE_CHECKING:
    from tierwise.data.counts import Counts
    from tierwise.data.rankings import Rankings
    from tierwise.posterior.chain import Sampler
    from tierwise.posterior.settings import Settings
    from tierwise.posterior.state import Move
    from tierwise.posterior.target import Target

# Labels an iteration tries to switch, for each item: cheap beside the rest of an iteration.
_SWITCHES_PER_ITEM = 3
_SPLITS_AND_MERGES = 4
# Where each step goes through all answers.
_SPLITS_AND_MERGES_OF_ANSWERS = 2


def make_sampler(
    settings: Settings, target: Target, data: Rankings | Counts | Preferences
) -> Sampler:
    """Say what one iteration does.

    Parameters
    ----------
    settings
        What was asked for.
    target
        What to draw from.
    data
        The rankings.
    """
    if isinstance(target, OpenTarget):
        return _sampler_of_answers(settings, target)
    sizes, warmup = settings.sizes, settings.default_warmup
    n_switches = _SWITCHES_PER_ITEM * target.n_items
    if settings.method == "exact":
        return Moves((exact.ExactPosterior.of(target, sizes),))
    if settings.likelihood == "pseudo":
        pseudo = PseudoLikelihood.of(data)
        switch = PseudoSwitchTiers(target, pseudo, target.n_items)
        return Moves((switch, PseudoTheta(target, pseudo, warmup)))
    if sizes is None:
        change = ChangeSizes(target, target.n_items, _SPLITS_AND_MERGES)
        return Moves((SwitchTiers(target, n_switches), change, DrawTheta(target)))
    if settings.theta_update == "integrated":
        sized = target.at(sizes)
        return IntegratedWalk(sized, tabulate_weights(sized), n_switches)
    draw: Move = DrawTheta(target)
    if settings.theta_update == "exchange":
        draw = ExchangeTheta(target, settings.auxiliary, settings.auxiliary_steps, warmup)
    return Moves((SwitchTiers(target, n_switches), draw))


def _sampler_of_answers(settings: Settings, target: OpenTarget) -> Sampler:
    """Sum over the completions of answers where that is possible, else draw them."""
    sizes = settings.sizes
    if settings.completions != "auto":
        return Augmented(target, sizes, settings.completions, settings.prior_mistakes)
    if not target.can_be_summed(sizes):
        return Augmented(target, sizes, "reinsert", settings.prior_mistakes)
    switch = SwitchOpenTiers(target, max(target.n_items // 2, 2))
    walk = WalkTheta(target, settings.default_warmup)
    if sizes is not None:
        return Moves((switch, walk))
    change = ChangeOpenSizes(target, target.n_items, _SPLITS_AND_MERGES_OF_ANSWERS)
    return Moves((switch, change, walk))


def facts_of(sampler: Sampler) -> dict[str, Any]:
    """Return what is known without looking at draws."""
    if isinstance(sampler, Augmented):
        pairwise = isinstance(sampler.target.said, Preferences)
        return {"completions": f"drawn by {sampler.proposal}", "pairwise": pairwise}
    if isinstance(sampler, Moves) and isinstance(sampler.moves[0], SwitchOpenTiers):
        pairwise = isinstance(sampler.moves[0].target.said, Preferences)
        return {"completions": "summed over", "pairwise": pairwise}
    if isinstance(sampler, Moves) and isinstance(sampler.moves[0], exact.ExactPosterior):
        return sampler.moves[0].facts()
    return {}
