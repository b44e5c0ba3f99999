"""Predictions and thresholds of a run as frames."""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, Literal

from offdiag.domain.labels import label_text, require_known
from offdiag.errors import Conflict, InvalidInput
from offdiag.extras import optional
from offdiag.metrics.scores.operating_points import OperatingPoints
from offdiag.records.base import MOST_ON_A_PAGE, Request
from offdiag.records.runs.curve import Curves, CurvesQuery, asked_curves
from offdiag.records.runs.example import Example, ExamplePage, ExamplesQuery, example_page
from offdiag.sdk.registry import Registry
from offdiag.services.examples.selection import Kind

if TYPE_CHECKING:
    import pandas as pd

    from offdiag.store.database import Database

ExampleKind = Literal["wrong", "right", "unlabelled", "all"]


def example_query(
    *, actual: object, predicted: object, kind: ExampleKind, part: str | None
) -> ExamplesQuery:
    """The query of `Run.examples`. Raises `InvalidInput` for an unknown kind or class label."""
    require_known(kind, tuple(Kind), field_name="kind")
    return ExamplesQuery.model_construct(
        actual=None if actual is None else label_text(actual, field_name="actual"),
        predicted=None if predicted is None else label_text(predicted, field_name="predicted"),
        kind=Kind(kind),
        slice=part,
    )


def examples_of_run(
    registry: Registry, run_id: str, query: ExamplesQuery, limit: int
) -> ExamplePage:
    """At most `limit` predictions: from a server page by page, from a database in one query.

    Raises `InvalidInput` unless the limit is a whole number from 1.
    """
    limit = whole_limit(limit)

    def stored(database: Database) -> ExamplePage:
        from offdiag.services.examples.page import browse_examples

        return example_page(
            run_id, browse_examples(database, run_id, query.question(), size=limit)
        )

    found: list[Example] = []
    token: str | None = None
    while True:
        size = min(limit - len(found), MOST_ON_A_PAGE)
        asked = query.model_copy(update={"limit": size, "page_token": token})
        page = registry.ask(Request(f"/runs/{run_id}/examples", ExamplePage, stored, asked))
        found += page.examples
        token = page.next_page_token
        if token is None or len(found) >= limit:
            return page.model_copy(update={"examples": found})


def whole_limit(limit: object) -> int:
    """A number of examples, at least 1. Raises `InvalidInput`."""
    try:
        number = index(limit)  # type: ignore[arg-type]  # what is none is refused here
    except TypeError:
        number = 0
    if number < 1:
        raise InvalidInput(
            f"{limit!r} is not a number of examples.",
            field="limit",
            hint="Give a whole number from 1.",
        )
    return number


def examples_frame(found: ExamplePage) -> pd.DataFrame:
    """One row for each prediction, as `Run.examples` describes."""
    with optional:
        import pandas as pd

    rows = found.examples
    columns: dict[str, list[object]] = {
        "sample": [row.sample for row in rows],
        "actual": [row.actual if row.sets is None else _labels(row.sets.actual) for row in rows],
        "predicted": [
            row.predicted if row.sets is None else _labels(row.sets.predicted) for row in rows
        ],
    }
    if found.has_scores:
        columns["confidence"] = [row.confidence for row in rows]
        columns["margin"] = [row.margin for row in rows]
    columns |= {name: [row.slices[name] for row in rows] for name in found.slice_names}
    return pd.DataFrame(columns, index=pd.Index([row.index for row in rows], name="index"))


def _labels(names: list[str] | None) -> tuple[str, ...] | None:
    return None if names is None else tuple(names)


def operating_points(registry: Registry, run_id: str, positive: str | None) -> OperatingPoints:
    """The stored thresholds of a class, by default the positive one."""
    asked = CurvesQuery(positive=positive)
    found = registry.ask(
        Request(
            f"/runs/{run_id}/curves", Curves, lambda at: asked_curves(at, run_id, asked), asked
        )
    )
    wanted = positive or found.positive_label
    for curve in found.curves:
        if curve.label == wanted:
            return curve.points.operating_points()
    raise Conflict(
        f"run {run_id} has no positive class.",
        field="positive",
        hint="Name the class of the curve.",
    )


def operating_points_frame(points: OperatingPoints) -> pd.DataFrame:
    """One row for each stored threshold, as `Run.operating_points` describes."""
    with optional:
        import pandas as pd

    return pd.DataFrame(
        {
            "threshold": points.float64_thresholds,
            "true_positives": points.true_positives,
            "false_positives": points.false_positives,
            "recall": points.recall,
            "false_positive_rate": points.false_positive_rate,
            "precision": points.precision(),
        }
    )
