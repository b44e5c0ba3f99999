"""Runs beside each other."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from offdiag.records.base import Answered, Asked


class ComparisonWanted(Asked):
    """Which runs are compared, and on which samples."""

    runs: str = Field(
        min_length=1,
        max_length=5_000,
        description="Ids, parted by commas; the first is A.",
        examples=["r_2k9xw4m0q7ta,r_8dm3v5c1z0pe"],
    )
    baseline: str | None = Field(
        default=None, description="Which of them is A, where it is not the first."
    )
    slice: str | None = Field(default=None, max_length=1_000, examples=["country=DE"])
    on_shared: bool = Field(
        default=False, description="Compare on the samples that all have, where they differ."
    )
    confidence: float = Field(default=0.95, gt=0, lt=1)
    difference: float = Field(
        default=0.01,
        gt=0,
        le=1,
        description="The difference in accuracy that matters, as a share. Where none is "
        "significant, `samples_needed` says how many examples would settle it.",
    )


class Comparison(Answered):
    """What can be said about runs, or why nothing can.

    Undefined values are objects with `value` null and the reason, as everywhere.
    """

    runs: list[dict[str, Any]] = Field(description="With their letters, in order.")
    project: str
    dataset: str
    suite_version: int
    slice: str | None
    on_shared: bool
    samples: dict[str, Any] | None
    refusal: dict[str, Any] | None = Field(description="Why there is no result.")
    verdict: dict[str, Any] | None = Field(description="Sentences and tone.")
    result: dict[str, Any] | None = Field(
        description='Of `kind` "pair" (every difference is B minus A) or "many". In a pair, '
        "`difference` has the interval of a metric alone and `simultaneous_interval` the one that "
        "holds together with the others and decides `outcome`. "
        "`best_of_many` has, by metric, the highest of three or more runs with its `value` and "
        "with `corrected`, what it is expected to reach on new examples."
    )
