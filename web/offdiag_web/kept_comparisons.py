"""Comparisons that pages of this application showed last."""

from __future__ import annotations

from typing import cast

from flask import current_app

from offdiag.services.comparison.computing import Compared
from offdiag.services.comparison.kept import KeptResults

KEY = "offdiag comparisons"
MOST_KEPT = 64


def kept_comparisons() -> KeptResults[Compared]:
    """What is kept for the application that is answering."""
    kept = current_app.extensions.setdefault(KEY, KeptResults(most=MOST_KEPT))
    return cast("KeptResults[Compared]", kept)
