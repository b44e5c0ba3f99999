"""Label versions and the impact of corrections, as tables and sentences."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

from rich.table import Table
from rich.text import Text

from offdiag.cli.output import label, number
from offdiag.cli.tables import filled_table
from offdiag.domain import number_text, sentences
from offdiag.domain.labels import TruthRevision
from offdiag.domain.sentences import visible
from offdiag.errors import InvalidInput
from offdiag.metrics import metric_text
from offdiag.metrics.metric_text import spec_of
from offdiag.metrics.names import find_metric
from offdiag.records.datasets.truth import Difference, Impact, MovedValue, TruthList
from offdiag.reports.scope import DEFAULT_METRICS, METRICS_OF_SETS

_MOST_CLASSES = 6
"""Most classes whose counts are shown side by side; JSON has all of them."""


def history_table(history: TruthList) -> Table:
    """One line for each version, newest first."""
    counts = ("samples", "labelled", "runs logged")
    columns = ("version", "active", "corrects", *counts, "classes", "slices", "reason", "author")
    return filled_table(
        (*columns, "created"),
        (
            (
                str(version.version),
                "yes" if version.is_head else "",
                "" if version.parent is None else str(version.parent),
                str(version.n_samples),
                str(version.n_labelled),
                str(version.n_runs),
                _class_counts(history.labels, version.class_counts),
                ", ".join(version.slices),
                version.reason or "",
                version.author or "",
                version.created_at.isoformat(sep=" ", timespec="minutes"),
            )
            for version in history.versions
        ),
        right=("version", *counts),
        title=f"Ground truth of {history.dataset} in project {history.project}",
        caption="Runs are evaluated with active versions.",
    )


def revision_sentence(made: TruthRevision) -> str:
    """A sentence on what a correction changed."""
    changes = changes_in_words(made.n_corrected, made.n_newly_labelled, made.n_unlabelled)
    if made.was_there:
        return f"Version {made.version} already has these labels ({changes}); nothing was changed."
    runs = "1 run is" if made.n_runs == 1 else f"{made.n_runs} runs are"
    return (
        f"Version {made.version} corrects version {made.parent} of {visible(made.dataset)}: "
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


def comparison_tables(found: Difference, *, limit: int) -> Iterable[Table | Text]:
    """A sentence, counts for every pair of classes, then the samples themselves."""
    said = changes_in_words(found.n_corrected, found.n_newly_labelled, found.n_unlabelled)
    yield Text(f"Version {found.before} to version {found.after}: {said}.")
    yield filled_table(
        ("from", "to", "samples"),
        ((_class(move.before), _class(move.after), str(move.n)) for move in found.moves),
        right=("samples",),
    )
    if limit and found.samples:
        left_out = len(found.samples) - limit
        yield filled_table(
            ("sample", "from", "to"),
            (
                (str(each.sample), _class(each.before), _class(each.after))
                for each in found.samples[:limit]
            ),
            title="Changed samples",
            caption=f"{left_out} more; --limit or --json shows them." if left_out > 0 else None,
        )


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
            f"{text!r} are not two versions.", field="version", hint="Write for example 1..2."
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


def impact_tables(impact: Impact, *, metric: str, limit: int) -> Iterable[Table | Text]:
    """The label changes and their impact, then the runs, largest change first.

    If the runs do not have the metric, their own first one is used.
    """
    metric = metric if metric in impact.n_reranked else next(iter(impact.n_reranked))
    yield Text("\n".join(_sentences(impact, metric)))
    if impact.runs and limit:
        yield _runs_table(impact, metric, limit)


def _sentences(impact: Impact, metric: str) -> Iterable[str]:
    made = changes_in_words(
        impact.n_corrected or 0, impact.n_newly_labelled or 0, impact.n_unlabelled or 0
    )
    yield f"Version {impact.before} to version {impact.after}: {made}."
    if impact.runs:
        n_beyond = sum(
            any(moved.is_beyond_interval for moved in run.metrics.values()) for run in impact.runs
        )
        compared = number_text.count(len(impact.runs), "run")
        n_ranks = impact.n_reranked[metric]
        places = (
            f"{number_text.count(n_ranks, 'run')} changed rank" if n_ranks else "no rank changed"
        )
        yield (
            f"{n_beyond} of {compared} changed significantly; by "
            f"{metric_text.title_inside(metric)} {places}."
        )
    else:
        yield "No run was evaluated with both versions."
    others = (
        (impact.waiting, "queued for evaluation"),
        (impact.failed, "evaluation failed"),
        (impact.only_scored_since, "evaluated with the newer version only"),
    )
    if impact.is_cut:
        n_runs = len(impact.runs) + sum(len(runs) for runs, _ in others)
        yield f"Only the newest {n_runs} runs are compared."
    for runs, what in others:
        if runs:
            yield f"{sentences.listed([sentences.name(run.name) for run in runs])}: {what}."


def _runs_table(impact: Impact, metric: str, limit: int) -> Table:
    left_out = len(impact.runs) - limit
    numbers = ("before", "after", "difference")
    moved = [(run, run.metrics[metric]) for run in impact.runs]
    return filled_table(
        ("run", "name", *numbers, "verdict", "rank"),
        (
            (
                run.id,
                run.name,
                number(metric, value.before.measured()),
                number(metric, value.after.measured(), with_interval=False),
                ""
                if value.difference is None
                else metric_text.difference(value.difference, spec_of(metric, of_class=False)),
                _verdict(value),
                _rank(value.rank_before, value.rank_after),
            )
            for run, value in sorted(moved, key=lambda each: -_distance(each[1]))[:limit]
        ),
        right=numbers,
        title=metric_text.title(metric),
        caption=f"{left_out} more; --limit or --json shows them." if left_out > 0 else None,
    )


def _distance(moved: MovedValue) -> float:
    if moved.difference is not None:
        return abs(moved.difference)
    return 0.0 if (moved.before.value is None) is (moved.after.value is None) else math.inf


def _verdict(moved: MovedValue) -> Text:
    was_defined, is_defined = moved.before.value is not None, moved.after.value is not None
    if was_defined is not is_defined:
        return Text("became defined" if is_defined else "became undefined", style="bold")
    if not was_defined:
        return Text("undefined both times")
    if moved.before.ci_low is None:
        return Text("no interval")
    return (
        Text("significant", style="bold") if moved.is_beyond_interval else Text("not significant")
    )


def _rank(before: int | None, after: int | None) -> str:
    if before == after:
        return "none" if after is None else str(after)
    return f"{before or 'none'} → {after or 'none'}"
