"""Print the oldest version that pyproject.toml allows of every dependency, as pip constraints.

``python tools/lowest_versions.py dev`` adds those of an optional group. Only what pyproject.toml
names itself is held back: what is needed by what is needed may be as new as it likes.
"""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)(\[[\w,-]+\])?>=(?P<version>[\d.]+)")


def lowest(requirement: str) -> str:
    """Turn a requirement into a constraint: ``name[extra]>=1.2`` into ``name==1.2``."""
    found = _REQUIREMENT.fullmatch(requirement)
    if found is None:
        raise ValueError(f"{requirement!r} should be a name and a lower bound: name>=1.2")
    return f"{found['name']}=={found['version']}"


def constraints(*groups: str) -> list[str]:
    """All constraints of the dependencies and of some optional groups, without repetitions."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    optional = project["optional-dependencies"]
    required = project["dependencies"] + [line for group in groups for line in optional[group]]
    return sorted({lowest(line) for line in required})


if __name__ == "__main__":
    print("\n".join(constraints(*sys.argv[1:])))
