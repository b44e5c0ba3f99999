"""Questions that begin with "what if", and their answers."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from offdiag.domain.orientation import SourceOrientation
from offdiag.wire.bodies import Answered, Asked
from offdiag.wire.values import Value

MOST_RUNS = 8


class PricedBy(Asked):
    """What errors cost, to begin with and after changes."""

    base: str | None = Field(
        default=None,
        description=("`visits@2`, `@0-1`, or `@prevalence`; without it the costs of the dataset."),
    )
    edits: str = Field(
        default="",
        max_length=8_000,
        description="Changes such as `mel>nv:20,bcc>*:x2`: actual class, predicted class, cost.",
    )
    vary: str = Field(
        default="",
        max_length=2_000,
        description="The price that is moved, as `mel>nv` or `mel>*`; without it the dearest.",
    )


class WhatIfAsked(Asked):
    """What is different. Parts apply in the order in which they stand here."""

    runs: list[str] = Field(min_length=1, max_length=MOST_RUNS)
    positive: str | None = Field(default=None, description="The class a threshold is about.")
    threshold: float | None = Field(
        default=None, description="Scores from here on are reported as the positive class."
    )
    merge: dict[str, list[str]] = Field(
        default={}, description="By the name of a new class: the classes that become one."
    )
    swap_positive: bool = Field(default=False, description="Exchange two classes.")
    prevalence: dict[str, float] | None = Field(
        default=None, description="The share of every class that is left; they add up to 1."
    )
    costs: PricedBy | None = Field(
        default=None, description="Ask what the runs cost too; not together with a threshold."
    )


class Recounted(Answered):
    """The results of a run after the change."""

    run: str
    labels: list[str]
    orientation: SourceOrientation = Field(description="Always actual_rows.")
    matrix: list[list[float]] = Field(
        description="Counts, or expected counts where a prevalence is given."
    )
    aggregate: dict[str, Value]
    per_class: dict[str, list[Value]] = Field(description="By key, in label order.")
    threshold: float | None = Field(description="The kept threshold that was used.")


class WhatIfAnswer(Answered):
    """The results after the change, run by run, and what they cost if that was asked."""

    runs: list[Recounted]
    costs: dict[str, Any] | None
