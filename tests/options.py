"""Options of functions, one by one in tests, as the objects that functions take them in."""

import tierwise as tw

_GROUPS = {
    "priors": (tw.Priors, {f"prior_{name}": name for name in ("theta", "sizes", "mistakes")}),
    "sampler": (
        tw.Sampler,
        {
            name: name
            for name in ("method", "theta_update", "likelihood", "completions", "warmup", "thin")
        },
    ),
}
_GROUPS["priors"][1]["prior_shares"] = "shares"


def in_groups(options, *keywords):
    """Put what belongs to `Priors` and `Sampler` into these; the rest stays as it is."""
    grouped = dict(options)
    for keyword in keywords or _GROUPS:
        make, fields = _GROUPS[keyword]
        given = {fields[name]: grouped.pop(name) for name in options if name in fields}
        if given:
            grouped[keyword] = make(**given)
    return grouped
