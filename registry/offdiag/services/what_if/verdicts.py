"""What an answer supports about one of its runs: cheapest, dearer, or neither."""

from __future__ import annotations

from typing import Literal

from offdiag.services.what_if.answering import WhatIf

Verdict = Literal["cheapest", "dearer", "open", "not paired"]


def verdict(found: WhatIf, place: int) -> Verdict:
    """How a run stands against the cheapest one: "open" where the difference may be chance."""
    if place == found.cheapest:
        return "cheapest"
    behind = found.answers[place].behind
    if behind.ci_method is None:
        return "not paired"
    # Resamples that all agree leave no interval: then the runs differ nowhere that matters.
    return "dearer" if behind.ci_low is not None and behind.ci_low > 0 else "open"
