"""Logging the counts of a frame: no row of it is read here."""

from __future__ import annotations

from collections.abc import Sequence

from offdiag.domain.labels import LabelSet, label_text
from offdiag.domain.look_alikes import label_notes, warn_of
from offdiag.errors import InvalidInput
from offdiag.sdk.api import run_facts
from offdiag.sdk.frames.arguments import RunArguments
from offdiag.sdk.frames.columns import FrameColumns
from offdiag.sdk.frames.counting import count_kinds
from offdiag.sdk.frames.opening import EagerFrame, LazyFrame
from offdiag.sdk.run import Run
from offdiag.sdk.target import target
from offdiag.services.ingest.given import GivenCounts


def log_counted(
    frame: EagerFrame | LazyFrame,
    columns: FrameColumns,
    *,
    dataset: str | None,
    labels: Sequence[object] | LabelSet | None,
    arguments: RunArguments,
) -> Run:
    """Store the counts of a frame, made by its own library. Raises `InvalidInput`, `Conflict`."""
    name = _require_countable(columns, dataset)
    actual, predicted = columns.actual, columns.predicted
    if actual is None or predicted is None:
        raise InvalidInput(
            "without the actual and the predicted classes there is nothing to count.",
            field="actual" if actual is None else "predicted",
            hint="Name their columns, or keep the predictions.",
        )
    at = target(arguments["url"])
    facts = run_facts(
        at,
        project=arguments["project"],
        name=arguments["name"],
        model=arguments["model"],
        params=arguments["params"],
        tags=arguments["tags"],
        client_key=arguments["client_key"],
    )
    kinds = count_kinds(frame, columns)
    given = GivenCounts(
        actual=kinds.columns[actual],
        predicted=kinds.columns[predicted],
        sizes=kinds.sizes,
        counted_on=str(frame.implementation),
        slices={name: kinds.columns[name] for name in columns.slices},
        labels=labels,
        ordinal=arguments["ordinal"],
        positive_label=arguments["positive_label"],
        hierarchy=arguments["hierarchy"],
    )
    classes = {"actual": given.actual, "predicted": given.predicted}
    try:
        run_id = at.log_counts(facts, name, given)
    except InvalidInput as error:
        if error.field not in ("actual", "predicted"):
            raise
        place = columns.place_of_column(actual if error.field == "actual" else predicted)
        raise InvalidInput(error.message, field=place, hint=error.hint) from None
    names = given.labels or {label for column in classes.values() for label in column}
    floats = [
        columns.place_of_column(actual if field == "actual" else predicted)
        for field, column in classes.items()
        if any(isinstance(label, float) for label in column)
    ]
    warn_of(label_notes(sorted(map(label_text, names)), whole_floats=floats))
    return Run(at, run_id)


def _require_countable(columns: FrameColumns, dataset: str | None) -> str:
    for field, name in (
        ("score", columns.scores[0] if columns.scores else None),
        ("sample_id", columns.sample_id),
    ):
        if name is not None:
            raise InvalidInput(
                f"column {name!r} belongs to single predictions, and none are kept.",
                field=field,
                hint="Leave it out, or keep the predictions.",
            )
    if dataset is None:
        raise InvalidInput(
            "counts do not tell which cases they are of.",
            field="dataset",
            hint="Name the dataset.",
        )
    return dataset
