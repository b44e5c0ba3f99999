"""Curves of the scores of a run, as exact counts at few thresholds."""

from __future__ import annotations

from pydantic import Field

from offdiag.wire.bodies import Answered, Asked


class CurvesWanted(Asked):
    """Which curves are wanted."""

    positive: str | None = Field(
        default=None,
        description="Only those of this class; without it those of all classes that were drawn.",
    )


class Points(Answered):
    """Thresholds with what they report; every rate follows from these counts."""

    thresholds: list[float]
    true_positives: list[int]
    false_positives: list[int]
    n_positive: int
    n_negative: int
    n_thresholds: int = Field(description="How many different ones the scores have.")
    reports_below: bool = Field(description="Whether scores below the threshold are reported.")


class Bins(Answered):
    """How often the event happened in each bin of the score."""

    edges: list[float]
    count: list[int]
    happened: list[int]
    score_sum: list[float]
    calibrated_low: list[float | None] = Field(
        default=[],
        description="Share below which a perfectly calibrated model is in 1 of 20 samples; null "
        "in an empty bin.",
    )
    calibrated_high: list[float | None] = Field(
        default=[], description="Share above which it is in 1 of 20 samples."
    )


class Histogram(Answered):
    """How the scores of positive and of negative cases are spread."""

    edges: list[float]
    positive: list[int]
    negative: list[int]


class Curve(Answered):
    """What is kept for a class against the rest, or for the largest probability of each case."""

    label: str | None = Field(description="Null for the top label, whichever that is.")
    points: Points
    bins: Bins | None = Field(description="Null for scores that are no probabilities.")
    histogram: Histogram


class CurvesAnswer(Answered):
    """The curves of a run."""

    run: str
    positive_label: str | None
    curves: list[Curve]
    top_label: Curve | None
