"""Write the golden values again: ``python -m tests.golden.record [part of a name]``.

Only for a change that is meant to change values, or for calls that are new; the commit says which,
and why. Values that are equal up to the bound of their call stay as they are.
"""

import json
import sys
from math import isfinite
from pathlib import Path
from time import perf_counter

from tests.golden.calls import CALLS

PATH = Path(__file__).with_name("values.json")


def plain(value):
    """Return a value as strict JSON can hold it: infinity and NaN as text."""
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    return value


def differences(golden, value, call, path="", *, theta=False):
    """List where a value differs from the golden one by more than its call may."""
    if isinstance(golden, dict) and isinstance(value, dict):
        if golden.keys() != value.keys():
            return [f"{path}: {sorted(golden)} became {sorted(value)}"]
        return [
            found
            for key in golden
            for found in differences(
                golden[key], value[key], call, f"{path}/{key}", theta=theta or "theta" in key
            )
        ]
    if isinstance(golden, list) and isinstance(value, list):
        if len(golden) != len(value):
            return [f"{path}: {len(golden)} values became {len(value)}"]
        return [
            found
            for place, (one, other) in enumerate(zip(golden, value, strict=True))
            for found in differences(one, other, call, f"{path}[{place}]", theta=theta)
        ]
    numbers = (int, float)
    if isinstance(golden, numbers) and isinstance(value, numbers):
        bound = call.bound_of_thetas if theta else call.bound
        # Below one, what counts is the difference: a log probability near 0 has no digits to lose.
        apart = abs(golden - value) <= bound * max(abs(golden), 1.0 if not theta else abs(golden))
        same = apart or abs(golden - value) <= 1e-13
    else:
        same = golden == value
    return [] if same else [f"{path}: {golden!r} became {value!r}"]


def main():
    """Run calls and write what they give."""
    part = sys.argv[1] if len(sys.argv) > 1 else ""
    kept = json.loads(PATH.read_text()) if PATH.exists() else {}
    values = {}
    for name, call in CALLS.items():
        values[name] = kept.get(name)
        if part in name:
            begun = perf_counter()
            value = plain(call.run())
            if name not in kept or differences(kept[name], value, call):
                values[name] = value
                print(f"{perf_counter() - begun:7.2f} s  {name}", flush=True)  # noqa: T201
    lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in values.items()]
    PATH.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
