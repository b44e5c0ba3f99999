"""What a correction did, for machines: every run by every metric, in full precision."""

from __future__ import annotations

from collections.abc import Iterator

from offdiag.services.truth import impact_record as shared
from offdiag.services.truth.impact import TruthImpact
from offdiag_web.app.exports import Cell
from offdiag_web.presenters.impact_sentence import impact_sentence

IMPACT_COLUMNS = (
    *("run", "name", "metric", "before", "before_ci_low", "before_ci_high", "after"),
    *("difference", "is_beyond_interval", "rank_before", "rank_after"),
)


def impact_record(impact: TruthImpact, metric: str) -> dict[str, object]:
    """The impact with the sentence of the page."""
    return {
        "truth_version": impact.version.number,
        "corrects": None if impact.older is None else impact.older.number,
        "sentence": impact_sentence(impact, metric),
        **shared.impact_record(impact),
    }


def impact_rows(impact: TruthImpact) -> Iterator[tuple[Cell, ...]]:
    """One line per run and metric; undefined values are empty."""
    beyond = shared.values_beyond(impact)
    for moved in impact.moved:
        for metric in impact.metrics:
            before, after = moved.values_of(metric)
            yield (
                moved.run.id,
                moved.run.name,
                metric,
                before.value,
                before.ci_low,
                before.ci_high,
                after.value,
                moved.difference_of(metric),
                int((moved.run.id, metric) in beyond),
                *moved.places[metric],
            )
