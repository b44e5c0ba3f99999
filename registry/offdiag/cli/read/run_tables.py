"""Runs and their evaluations as tables and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from offdiag.cli.output import label, number, three_decimals
from offdiag.cli.tables import evaluation_tables, facts_table, filled_table, open_table
from offdiag.comparison.texts import difference_interval, difference_text
from offdiag.domain.number_text import p_in_column
from offdiag.domain.runs import RunState, Task, decision_text, logged_by
from offdiag.domain.sentences import visible
from offdiag.domain.values import MetricValue
from offdiag.metrics.catalogue import CATALOGUE, Scope
from offdiag.metrics.counted import Counted, CountedSets
from offdiag.records.base import Value
from offdiag.records.runs.evaluation import (
    EvaluationResponse,
    PastEvaluationResponse,
    RunWithResults,
)
from offdiag.records.runs.run import DeletedRuns
from offdiag.records.runs.run_list import RunSummary
from offdiag.records.runs.slices import Fairness, FairnessOfClass, RunSlices, SliceGapBody
from offdiag.sdk.evaluations.evaluation import sets_dict
from offdiag.sdk.remote.requests import counted_of


def run_dict(run: RunWithResults) -> dict[str, Any]:
    """The run for programs, for multi-label runs with their shares."""
    shown = run.plain()
    if shown.pop("set_counts") is None:
        return shown
    counted = _counted(run)
    return shown | ({"sets": sets_dict(counted)} if isinstance(counted, CountedSets) else {})


def _counted(run: RunWithResults) -> Counted:
    matrix = None if run.confusion_matrix is None else run.confusion_matrix["matrix"]
    return counted_of(run.labels.label_set(), matrix, run.set_counts, run.weighted)


_LISTED = {"accuracy": "overall_accuracy", "balanced": "balanced_accuracy", "MCC": "mcc"}


def run_table(runs: Iterable[RunSummary], *, with_intervals: bool) -> Table:
    """One line for each run: accuracy, and the metrics that show what it hides."""
    table = filled_table(
        ("run", "name", "dataset", "n", *_LISTED, "lowest recall"),
        (
            (
                run.id,
                run.name,
                run.dataset,
                _listed_size(run),
                *_numbers(run, with_intervals=with_intervals),
            )
            for run in runs
        ),
        right=("n",),
        caption="Brackets: 95 % CI." if with_intervals else None,
    )
    table.columns[0].no_wrap = True
    for column in table.columns[1:3]:
        column.overflow = "fold"
    return table


def _numbers(run: RunSummary, *, with_intervals: bool) -> list[Text]:
    """The listed metrics and the worst class, or the state of a run without results."""
    if run.evaluation is None:
        return [Text(run.state.value, style="italic")]
    shown = [
        number(key, run.metrics[key].measured(), with_interval=with_intervals)
        if key in run.metrics
        else ""  # Sets of labels have none.
        for key in _LISTED.values()
    ]
    worst = run.worst_class
    if worst is not None:
        recall = number("recall", worst.recall.measured(), with_interval=with_intervals)
        shown.append(f"{label(worst.label)}: {recall}")
    return [Text(text) for text in shown]


def deleted_table(found: DeletedRuns) -> Table:
    """One line for each deleted run."""
    table = filled_table(
        ("run", "name", "project", "dataset", "deleted", "by"),
        (
            (
                *(run.id, run.name, run.project, run.dataset),
                *(f"{run.deleted_at:%Y-%m-%d %H:%M}", run.deleted_by or ""),
            )
            for run in found.runs
        ),
    )
    table.columns[0].no_wrap = True
    return table


def run_tables(run: RunWithResults) -> Iterable[Table]:
    """All tables about one run."""
    yield facts_table(f"Run {run.id}", _facts(run))
    if run.metrics is not None and run.per_class is not None:
        yield from _evaluation_tables(_counted(run), run.metrics, run.per_class)


def slice_tables(part: EvaluationResponse) -> Iterable[Table]:
    facts = {"slice": part.slice or "", "examples": coverage(part.n_cases, part.n_unlabelled)}
    yield facts_table(f"Slice of run {part.run}", facts)
    labels = part.labels.label_set()
    counted = counted_of(labels, part.matrix, part.set_counts, part.weighted)
    yield from _evaluation_tables(counted, part.aggregate, part.per_class)


def worst_slices_table(found: RunSlices) -> Table:
    significant = f"{found.n_significant} significant at a false discovery rate of 5 %"
    table = open_table(title=f"Worst slices of {found.n_tests} tests, {significant}")
    for head in ("slice", "metric", "value", "rest", "gap", "adjusted p", ""):
        table.add_column(head)
    for gap in found.gaps:
        table.add_row(
            visible(gap.slice),
            gap.metric if gap.label is None else f"recall of {label(gap.label)}",
            three_decimals(gap.value) if gap.hits is None else f"{gap.hits} of {gap.cases}",
            three_decimals(gap.rest),
            _gap(gap),
            p_in_column(gap.p_adjusted),
            "significant" if gap.is_significant else "",
        )
    return table


def _gap(gap: SliceGapBody) -> str:
    """ "−3.4 pp (−20.5 to +13.4)"; MCC and kappa are no shares, "−0.081 (−0.274 to +0.112)"."""
    found = MetricValue(gap.gap, ci_low=gap.gap_low, ci_high=gap.gap_high)
    of_class = gap.label is not None
    ends = difference_interval(gap.metric, found, of_class=of_class)
    text = difference_text(gap.metric, found, of_class=of_class)
    return text if ends is None else f"{text} ({ends})"


def _listed_size(run: RunSummary) -> str:
    found = run.evaluation
    said = str(run.n_predictions)
    if found is not None:
        said = coverage(found.n_samples, found.n_unlabelled)
    return f"{said} weighted" if run.is_weighted else said


def _evaluation_tables(
    counted: Counted, metrics: Mapping[str, Value], per_class: Mapping[str, Sequence[Value]]
) -> Iterable[Table]:
    return evaluation_tables(
        counted,
        {key: value.measured() for key, value in metrics.items()},
        {key: [value.measured() for value in values] for key, values in per_class.items()},
    )


def coverage(n_labelled: int, n_unlabelled: int) -> str:
    """The number of labelled examples, and the total if some have no label."""
    if n_unlabelled == 0:
        return str(n_labelled)
    return f"{n_labelled} of {n_labelled + n_unlabelled}"


def _facts(run: RunWithResults) -> dict[str, str]:
    orientation, origin = run.orientation, run.derived_from
    verdict = f" ({orientation.verdict})" if orientation.verdict else ""
    facts = {
        "name": run.name,
        "project": run.project,
        "dataset": _dataset(run),
        "model": run.model,
        "state": run.state.value,
        "predictions": str(run.n_predictions),
        "evaluated": _evaluated(run),
        "orientation": f"{orientation.source.value}{verdict}",
        "params": _entries(run.params),
        "tags": _entries(run.tags),
        **logged_by(run),
        "derived from": None
        if origin is None
        else f"the scores of {origin.run}, by {origin.recipe.get('rule')}",
        "predicted": None
        if run.decision_rule is None
        else visible(decision_text(run.decision_rule)),
        "logged": run.created_at.isoformat(timespec="seconds"),
        "error": None if run.work is None else run.work.error,
    }
    return {name: value for name, value in facts.items() if value}


def _evaluated(run: RunWithResults) -> str | None:
    """Examples and label version of the evaluation, or what is missing for one."""
    made = run.evaluation
    if made is None and run.state is RunState.FINISHED:
        return "not yet; `offdiag worker` evaluates, `offdiag jobs` shows what waits"
    if made is None or made.truth_version is None:
        return None
    of_samples = coverage(made.n_samples, made.n_unlabelled)
    noun = "example" if made.n_samples + made.n_unlabelled == 1 else "examples"
    return f"{of_samples} {noun}, label version {made.truth_version}"


def _dataset(run: RunWithResults) -> str:
    version = "" if run.truth is None else f", logged with label version {run.truth.version}"
    things = "labels" if run.task is Task.MULTILABEL else "classes"
    return f"{run.dataset} ({run.task.value}, {len(run.labels.names)} {things}{version})"


def _entries(entries: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in entries.items()
    )


_HEADINGS = {
    "overall_accuracy": "accuracy",
    "balanced_accuracy": "balanced",
    "mcc": "MCC",
    "macro_f1": "macro F1",
    "subset_accuracy": "subset acc.",
    "hamming_loss": "Hamming",
    "example_jaccard": "Jaccard",
}


def history_table(evaluations: Sequence[PastEvaluationResponse]) -> Table:
    """One line for each evaluation, oldest first."""
    known = {key for past in evaluations for key in past.metrics}
    keys = [key for key in _HEADINGS if key in known]
    table = filled_table(
        ("computed", "slice", "examples", *(_HEADINGS[key] for key in keys), "what changed"),
        (
            (
                past.computed_at.isoformat(sep=" ", timespec="seconds")
                + (" *" if past.is_current else ""),
                past.slice or "all",
                coverage(past.n_labelled, past.n_cases - past.n_labelled),
                *(
                    number(key, past.metrics[key].measured(), with_interval=False)
                    if key in past.metrics
                    else ""
                    for key in keys
                ),
                "; ".join(past.differences),
            )
            for past in evaluations
        ),
        caption="* marks the current evaluation.",
    )
    table.columns[-1].overflow = "fold"
    return table


def fairness_tables(found: Fairness) -> Iterator[Table]:
    """For each class, the criteria, then the rates of the groups."""
    for each in found.classes:
        yield filled_table(
            ("criterion", "largest difference", "smallest ratio"),
            (
                (
                    line.criterion.name_in_words,
                    _text("difference", line.difference),
                    _text("ratio", line.ratio),
                )
                for line in each.criteria
            ),
            title=f"{each.class_label} by {found.by}",
            caption=" ".join(filter(None, (each.conflict, *found.left_out()))),
        )
        yield _rates(found, each)


def _rates(found: Fairness, each: FairnessOfClass) -> Table:
    specs = CATALOGUE[Scope.PER_CLASS]
    return filled_table(
        (found.by, "n", *(specs[key].title.lower() for key in each.rates)),
        (
            (name, str(n), *(_text(key, values[name]) for key, values in each.rates.items()))
            for name, n in found.groups.items()
        ),
        right=("n",),
        caption="Brackets: 95 % CI.",
    )


def _text(key: str, value: Value) -> str:
    return number(key, value.measured())
