"""Examples as lines of a CSV and items of a JSON list, in full precision."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from offdiag.services.examples.page import TOP_CLASSES, Example, ExampleExport
from offdiag.services.examples.selection import ExampleQuestion
from offdiag_web.app.exports import Cell

_TOP_COLUMNS = tuple(
    f"{column}_{number}" for number in range(1, TOP_CLASSES + 1) for column in ("top", "score")
)


def example_columns(export: ExampleExport) -> tuple[str, ...]:
    """Columns of the CSV: the sample, both labels, scores where there are any, slices."""
    scores = ("confidence", "margin", *_TOP_COLUMNS) if _has_scores(export) else ()
    slices = tuple(f"slice {name}" for name in export.slice_names)
    return ("index", "sample", "actual", "predicted", *scores, *slices)


def example_rows(export: ExampleExport) -> Iterator[tuple[Cell, ...]]:
    """One row for each example; a missing label is empty."""
    has_scores = _has_scores(export)
    for example in export.examples:
        scores: Sequence[Cell] = ()
        if has_scores:
            scores = (example.confidence, example.margin, *_top_cells(example))
        yield (
            *(example.index, example.sample, example.actual, example.predicted),
            *scores,
            *example.slices.values(),
        )


def export_head(export: ExampleExport, question: ExampleQuestion) -> dict[str, object]:
    """What the JSON says before the examples themselves."""
    run, results = export.detail.run, export.detail.results
    return {
        "run": run.id,
        "dataset": run.dataset,
        "truth_version": None if results is None else results.facts.truth_number,
        "filter": {
            "actual": question.actual,
            "predicted": question.predicted,
            "show": "cell" if question.is_cell else question.kind.value,
            "sample": question.sample,
        },
        "order": "logged",
        "n_matching": export.total,
        "n_exported": export.n_exported,
    }


def example_records(export: ExampleExport) -> Iterator[dict[str, object]]:
    """One record for each example; a missing label is null."""
    for example in export.examples:
        yield {
            "index": example.index,
            "sample": example.sample,
            "actual": example.actual,
            "predicted": example.predicted,
            "confidence": example.confidence,
            "margin": example.margin,
            "top": [{"label": each.label, "score": each.score} for each in example.top],
            "slices": dict(example.slices),
        }


def _has_scores(export: ExampleExport) -> bool:
    return export.detail.run.score_columns > 0


def _top_cells(example: Example) -> list[Cell]:
    cells: list[Cell] = []
    for each in example.top:
        cells += [each.label, each.score]
    return cells + [None] * (2 * TOP_CLASSES - len(cells))
