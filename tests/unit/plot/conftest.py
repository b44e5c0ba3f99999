"""Pictures are drawn without a display, and closed."""

from __future__ import annotations

from collections.abc import Iterator

import matplotlib as mpl
import pytest
from matplotlib import pyplot as plt


@pytest.fixture(autouse=True)
def _without_display() -> Iterator[None]:
    mpl.use("Agg")
    yield
    plt.close("all")
