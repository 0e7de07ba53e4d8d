"""The objective and the tiers of a search as references, which kernels take as one pointer.

Every array of a tuple is seven numbers or more to pass on at each call: for a tuple of twenty
arrays, compiling the calls takes longer than compiling what they do. A reference has the fields of
the tuple that it is made from and shares the memory of its arrays.
"""

from typing import cast

from numba import config, types
from numba.experimental import structref

from tierwise._kernels.compiling import compiled
from tierwise._kernels.inversions_lines import LineObjective
from tierwise._kernels.inversions_partition import Partition

_UNCOMPILED = bool(getattr(config, "DISABLE_JIT", 0))


@structref.register
class ObjectiveReferenceType(types.StructRef):
    """Type of a reference to a `LineObjective`."""


@structref.register
class PartitionReferenceType(types.StructRef):
    """Type of a reference to a `Partition`."""


class ObjectiveReference(structref.StructRefProxy):
    """Reference to a `LineObjective`."""


class PartitionReference(structref.StructRefProxy):
    """Reference to a `Partition`."""


structref.define_proxy(ObjectiveReference, ObjectiveReferenceType, LineObjective._fields)  # type: ignore[no-untyped-call]
structref.define_proxy(PartitionReference, PartitionReferenceType, Partition._fields)  # type: ignore[no-untyped-call]


@compiled
def _refer_to_objective(objective: LineObjective) -> ObjectiveReference:
    return ObjectiveReference(  # type: ignore[no-untyped-call]
        objective.kind,
        objective.grid,
        objective.prior,
        objective.n_rankings,
        objective.log_factorials,
        objective.tier_constant,
        objective.order_bonus,
    )


@compiled
def _refer_to_partition(state: Partition) -> PartitionReference:
    return PartitionReference(  # type: ignore[no-untyped-call]
        state.above,
        state.below,
        state.blocks,
        state.n_tiers,
        state.slot_of,
        state.order,
        state.position_of,
        state.sizes,
        state.into,
        state.out_of,
        state.totals,
        state.tier_meets,
        state.tail_meets,
        state.tier_change,
        state.tail_change,
        state.tally,
        state.passed,
        state.net,
        state.curve,
    )


def refer_to_objective(objective: LineObjective) -> LineObjective:
    """Return what kernels take in place of an objective; without compilation, the objective."""
    if _UNCOMPILED:
        return objective
    return cast("LineObjective", _refer_to_objective(objective))


def refer_to_partition(state: Partition) -> Partition:
    """Return what kernels take in place of tiers; without compilation, the tiers themselves."""
    if _UNCOMPILED:
        return state
    return cast("Partition", _refer_to_partition(state))
