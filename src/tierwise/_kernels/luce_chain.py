"""Gibbs sampling of tiers and worths under Luce's choice model (Caron and Doucet 2012).

Times of arrival are latent data (`luce_times`). Given these, tiers of all sizes are drawn with
their worths integrated out (`luce_tiers`). Worths are then drawn again, and their common scale, on
which no answer depends. Where sizes are held, items of two tiers trade places
(`luce_given_sizes`); where the tiers themselves are held, only worths move. Meetings of two items
need no times (`luce_meetings`).
"""

import numpy as np
import numpy.typing as npt

from tierwise._kernels.compiling import compiled, compiled_part
from tierwise._kernels.luce import make_block
from tierwise._kernels.luce_given_sizes import draw_worths_in_order, exchange_items
from tierwise._kernels.luce_tiers import cut_or_join, make_log_gammas, move_items, write_draw
from tierwise._kernels.luce_times import draw_running_times

_Floats = npt.NDArray[np.float64]
_Integers = npt.NDArray[np.int64]


@compiled_part
def _sum_by_tier(
    labels: _Integers,
    arrivals: _Floats,
    times: _Floats,
    sizes: _Floats,
    arrived: _Floats,
    ran: _Floats,
) -> None:
    """Add up items, arrivals and times of each tier."""
    sizes[:] = 0.0
    arrived[:] = 0.0
    ran[:] = 0.0
    for item in range(len(labels)):
        sizes[labels[item]] += 1.0
        arrived[labels[item]] += arrivals[item]
        ran[labels[item]] += times[item]


@compiled
def run_sweeps(
    order: _Integers,
    block_starts: _Integers,
    first_blocks: _Integers,
    weights: _Floats,
    arrivals: _Floats,
    labels: _Integers,
    worths: _Floats,
    shape: float,
    log_priors: _Floats,
    n_exchanges: int,
    sweeps_per_draw: int,
    label_draws: _Integers,
    log_worth_draws: _Floats,
    rng: np.random.Generator,
) -> None:
    """Make sweeps, and write down tiers and log worths by item.

    Parameters
    ----------
    order, block_starts, first_blocks, weights
        Answers; see `tierwise._kernels.luce`. Weights of answers with ties are whole numbers.
    arrivals
        How often each item arrived before another one.
    labels, worths
        Tier of each item, counted from 0, and worths of tiers: where the chain begins and ends.
        ``worths`` has room for one more tier than there are items.
    shape
        Shape of the Gamma prior of worths, whose rate is 1.
    log_priors
        By number of tiers, from 0: log prior of unordered tiers, but for the factorials of their
        sizes.
    n_exchanges
        Negative: tiers of all sizes are drawn. Else sizes are held, labels are in the order of
        worths, and so many exchanges of items are tried in each sweep; none if tiers are held.
    sweeps_per_draw
        Number of sweeps for each draw.
    label_draws, log_worth_draws
        Where draws are written, one row each: tier of each item, 0 being the best; log worth of
        each item, the mean over items being 0.
    rng
        Randomness.
    """
    n_items = len(labels)
    room = n_items + 1
    sizes, arrived, ran = np.zeros(room), np.zeros(room), np.zeros(room)
    logs, times = np.empty(room), np.empty(n_items)
    values, joined = np.empty(room), np.empty(room)
    block, rests = make_block(room), np.empty(n_items + 1)
    members, sides = np.empty(n_items, dtype=np.int64), np.empty(n_items, dtype=np.int64)
    gammas = make_log_gammas(shape, n_items, arrivals.sum())
    count = labels[0] + 1
    for item in range(n_items):
        count = max(count, labels[item] + 1)
    for number in range(len(label_draws) * sweeps_per_draw):
        draw_running_times(
            order,
            block_starts,
            first_blocks,
            weights,
            labels,
            worths,
            block,
            rests,
            times,
            rng,
        )
        _sum_by_tier(labels, arrivals, times, sizes, arrived, ran)
        if n_exchanges < 0:
            count = move_items(
                labels,
                count,
                sizes,
                arrived,
                ran,
                arrivals,
                times,
                gammas,
                log_priors,
                logs,
                values,
                joined,
                rng,
            )
            for _ in range(3):
                count = cut_or_join(
                    labels,
                    count,
                    sizes,
                    arrived,
                    ran,
                    arrivals,
                    times,
                    gammas,
                    log_priors,
                    members,
                    sides,
                    rng,
                )
            for tier in range(count):
                worths[tier] = rng.standard_gamma(shape + arrived[tier]) / (1.0 + ran[tier])
        else:
            exchange_items(
                labels,
                worths,
                count,
                sizes,
                arrived,
                ran,
                arrivals,
                times,
                gammas,
                n_exchanges,
                members,
                rng,
            )
            draw_worths_in_order(worths, count, arrived, ran, shape, rng)
        total = 0.0
        for tier in range(count):
            total += worths[tier]
        scale = rng.standard_gamma(shape * count) / total
        for tier in range(count):
            worths[tier] *= scale
        if (number + 1) % sweeps_per_draw > 0:
            continue
        draw = number // sweeps_per_draw
        write_draw(labels, worths, count, label_draws[draw], log_worth_draws[draw])
