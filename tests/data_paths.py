"""Where data that may not be part of the project are looked for."""

import os
from pathlib import Path

import pytest


def shared_data(folder: str) -> Path:
    """Return a folder of real data, or skip the test where it is not there."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    path = Path(os.environ.get("TIERWISE_DATA", beside)) / folder
    if not path.is_dir():
        pytest.skip(f"needs the {folder} data, which may not be shipped: set TIERWISE_DATA")
    return path
