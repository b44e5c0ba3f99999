"""Label versions and the impact of corrections, as tables and sentences."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

from rich.table import Table
from rich.text import Text

from offdiag.cli.tables import open_table
from offdiag.cli.text import label, number, printable
from offdiag.domain.labels import TruthRevision
from offdiag.errors import InvalidInput
from offdiag.metrics.names import find_metric
from offdiag.records.truth import values_beyond
from offdiag.reports import texts
from offdiag.reports.scope import DEFAULT_METRICS, METRICS_OF_SETS, spec_of
from offdiag.services.truth.impact import MOST_RUNS, MovedRun, TruthImpact
from offdiag.services.truth.versions import LabelDifference, TruthComparison, TruthHistory
from offdiag.store.truth_impact import ScoredRun

_MOST_CLASSES = 6
"""Class counts beside each other; JSON has all of them."""


def history_table(history: TruthHistory) -> Table:
    """One line for each version, newest first."""
    dataset = history.dataset
    table = open_table(
        title=printable(f"Ground truth of {dataset.name} in project {dataset.project}"),
        caption="Runs are evaluated with active versions.",
    )
    table.add_column("version", justify="right")
    for name in ("active", "corrects"):
        table.add_column(name)
    for name in ("samples", "labelled", "runs logged"):
        table.add_column(name, justify="right")
    for name in ("classes", "slices", "reason", "author", "created"):
        table.add_column(name, overflow="fold")
    for version in history.versions:
        table.add_row(
            str(version.number),
            "yes" if version.is_head else "",
            "" if version.parent is None else str(version.parent),
            str(version.n_samples),
            str(version.n_labelled),
            str(version.n_runs),
            Text(_class_counts(dataset.labels.names, version.class_counts)),
            Text(printable(", ".join(version.slices))),
            Text(printable(version.reason or "")),
            Text(printable(version.author or "")),
            version.created_at.isoformat(sep=" ", timespec="minutes"),
        )
    return table


def revision_sentence(made: TruthRevision) -> str:
    """What a correction changed."""
    changes = changes_in_words(made.n_corrected, made.n_newly_labelled, made.n_unlabelled)
    if made.was_there:
        return f"Version {made.version} already has these labels ({changes}); nothing was changed."
    runs = "1 run is" if made.n_runs == 1 else f"{made.n_runs} runs are"
    return (
        f"Version {made.version} corrects version {made.parent} of {printable(made.dataset)}: "
        f"{changes}. {made.n_labelled} of {made.n_samples} samples have a label. "
        f"{runs} re-evaluated."
    )


def changes_in_words(n_corrected: int, n_newly_labelled: int, n_unlabelled: int) -> str:
    """`3 labels corrected, 10 added`."""
    counted = ((n_corrected, "corrected"), (n_newly_labelled, "added"), (n_unlabelled, "removed"))
    said = [f"{n} {what}" for n, what in counted if n]
    if not said:
        return "no labels changed"
    n, _, what = said[0].partition(" ")
    return ", ".join([f"{n} {'label' if n == '1' else 'labels'} {what}", *said[1:]])


def comparison_tables(compared: TruthComparison, *, limit: int) -> Iterable[Table | Text]:
    """A sentence, counts of every pair of classes, then the samples themselves."""
    difference = compared.difference
    said = changes_in_words(
        difference.n_corrected, difference.n_newly_labelled, difference.n_unlabelled
    )
    yield Text(f"Version {compared.before.number} to version {compared.after.number}: {said}.")
    yield _moves_table(difference)
    if limit and len(difference):
        yield _samples_table(difference, limit)


def _moves_table(difference: LabelDifference) -> Table:
    table = open_table()
    table.add_column("from")
    table.add_column("to")
    table.add_column("samples", justify="right")
    for move in difference.moves:
        table.add_row(_class(move.before), _class(move.after), str(move.n))
    return table


def _samples_table(difference: LabelDifference, limit: int) -> Table:
    left_out = len(difference) - limit
    table = open_table(
        title="Changed samples",
        caption=f"{left_out} more; --limit or --json shows them." if left_out > 0 else None,
    )
    for name in ("sample", "from", "to"):
        table.add_column(name, overflow="fold")
    for sample in difference.samples(0, limit):
        table.add_row(
            Text(printable(str(sample.sample))), _class(sample.before), _class(sample.after)
        )
    return table


def _class(name: str | None) -> Text:
    return Text("no label", style="dim italic") if name is None else Text(label(name))


def _class_counts(names: Sequence[str], counts: Sequence[int]) -> str:
    shown = zip(names[:_MOST_CLASSES], counts[:_MOST_CLASSES], strict=True)
    said = ", ".join(f"{label(name)} {count}" for name, count in shown)
    return f"{said}, …" if len(names) > _MOST_CLASSES else said


_RANGE = re.compile(r"(\d{1,9})\.\.(\d{1,9})")


def read_range(text: str) -> tuple[int, int]:
    """The two versions of `OLD..NEW`. Raises `InvalidInput`."""
    found = _RANGE.fullmatch(text)
    if found is None:
        raise InvalidInput(
            f"{text!r} are no two versions.", field="version", hint="Write for example 1..2."
        )
    return int(found[1]), int(found[2])


def ranking_metric(metric: str) -> str:
    """The key of the metric that ranks runs here. Raises `InvalidInput` for other metrics."""
    known = dict.fromkeys((*DEFAULT_METRICS, *METRICS_OF_SETS))
    found = find_metric(metric, known)
    if found is None:
        raise InvalidInput(
            f"runs are not ranked by {metric!r} here.",
            field="metric",
            hint=f"Use one of {', '.join(known)}.",
        )
    return found.key


def impact_tables(impact: TruthImpact, *, metric: str, limit: int) -> Iterable[Table | Text]:
    """The label changes and their impact, then the runs, largest change first.

    Where the runs do not have the metric, their own first one takes its place.
    """
    metric = metric if metric in impact.metrics else impact.metrics[0]
    yield Text("\n".join(_sentences(impact, metric)))
    if impact.moved and limit:
        yield _runs_table(impact, metric, limit)


def _sentences(impact: TruthImpact, metric: str) -> Iterable[str]:
    assert impact.older is not None  # noqa: S101  # As above.
    assert impact.difference is not None  # noqa: S101  # As above.
    made = changes_in_words(
        impact.difference.n_corrected,
        impact.difference.n_newly_labelled,
        impact.difference.n_unlabelled,
    )
    yield f"Version {impact.older.number} to version {impact.version.number}: {made}."
    if impact.moved:
        n_beyond = len({change.run_id for change in impact.beyond})
        compared = texts.count(len(impact.moved), "run")
        n_ranks = impact.n_reranked[metric]
        places = f"{texts.count(n_ranks, 'run')} changed rank" if n_ranks else "no rank changed"
        yield (
            f"{n_beyond} of {compared} changed significantly; by "
            f"{texts.title_inside(metric)} {places}."
        )
    else:
        yield "No run was evaluated with both versions."
    if impact.is_cut:
        yield f"Only the newest {MOST_RUNS} runs are compared."
    for runs, what in (
        (impact.waiting, "queued for evaluation"),
        (impact.failed, "evaluation failed"),
        (impact.new, "evaluated with the newer version only"),
    ):
        if runs:
            yield f"{_names(runs)}: {what}."


def _names(runs: tuple[ScoredRun, ...]) -> str:
    return texts.listed([texts.name(run.name) for run in runs])


def _runs_table(impact: TruthImpact, metric: str, limit: int) -> Table:
    beyond = values_beyond(impact)
    left_out = len(impact.moved) - limit
    table = open_table(
        title=texts.title(metric),
        caption=f"{left_out} more; --limit or --json shows them." if left_out > 0 else None,
    )
    table.add_column("run", no_wrap=True)
    table.add_column("name", overflow="fold")
    for name in ("before", "after", "difference"):
        table.add_column(name, justify="right")
    for name in ("verdict", "rank"):
        table.add_column(name)
    for moved in sorted(impact.moved, key=lambda each: -_distance(each, metric))[:limit]:
        before, after = moved.values_of(metric)
        table.add_row(
            moved.run.id,
            Text(printable(moved.run.name)),
            Text(number(metric, before)),
            Text(number(metric, after, with_interval=False)),
            _difference(moved, metric),
            _verdict(moved, metric, is_significant=(moved.run.id, metric) in beyond),
            _rank(*moved.places[metric]),
        )
    return table


def _distance(moved: MovedRun, metric: str) -> float:
    difference = moved.difference_of(metric)
    if difference is None:
        before, after = moved.values_of(metric)
        return 0.0 if before.is_defined == after.is_defined else math.inf
    return abs(difference)


def _difference(moved: MovedRun, metric: str) -> str:
    difference = moved.difference_of(metric)
    if difference is None:
        return ""
    return texts.difference(difference, spec_of(metric, of_class=False))


def _verdict(moved: MovedRun, metric: str, *, is_significant: bool) -> Text:
    before, after = moved.values_of(metric)
    if before.is_defined != after.is_defined:
        return Text("became defined" if after.is_defined else "became undefined", style="bold")
    if not before.is_defined:
        return Text("undefined both times")
    if before.ci_low is None:
        return Text("no interval")
    return Text("significant", style="bold") if is_significant else Text("not significant")


def _rank(before: int | None, after: int | None) -> str:
    if before == after:
        return "none" if after is None else str(after)
    return f"{before or 'none'} → {after or 'none'}"
