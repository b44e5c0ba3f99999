"""The first sentences of a report, made from its findings and nothing else.

The first sentence says what changed beyond its interval since the previous edition, or that
nothing did. A corrected ground truth is named in it, because it moves runs that nobody touched.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import attrgetter

from offdiag.domain.number_text import about, count
from offdiag.domain.runs import Task
from offdiag.domain.sentences import as_sentence, enumerated, listed
from offdiag.domain.sentences import name as name_in_sentence
from offdiag.domain.values import MetricValue
from offdiag.flags.lifecycle import FlagState
from offdiag.metrics import metric_text
from offdiag.metrics.catalogue import Direction
from offdiag.metrics.metric_text import spec_of
from offdiag.reports.changes import Change, Origin, RankChange, is_tie
from offdiag.reports.report import Report
from offdiag.reports.scope import condition_text
from offdiag.reports.snapshot import BestOfManyFigures, BestSetFigures

FIRST = "This is the first edition, so there is nothing to compare it with yet."
OTHER_SAMPLES = (
    "The runs are scored on other samples than in edition {since}, so the two cannot be compared."
)
_MOST_NAMED = 3


def headline(report: Report) -> str:
    """The first sentence."""
    findings = report.findings
    if findings.since is None:
        return FIRST
    if not findings.is_comparable:
        return OTHER_SAMPLES.format(since=findings.since)
    parts = [
        _ranking(report),
        _beyond(report),
    ]
    said = "; ".join(part for part in parts if part)
    return as_sentence(said)


def further_sentences(report: Report) -> tuple[str, ...]:
    """What else a reader must know before the tables, most urgent first."""
    return tuple(_further(report))


def _change(report: Report, change: Change) -> str:
    """ "focal lost 4.1 pp recall of mel (−7.9 to −0.3 pp)"."""
    where = f" on {change.slice}" if change.slice else ""
    of_class = change.class_label is not None
    spec = spec_of(change.metric, of_class=of_class)
    what = metric_text.title_inside(change.metric, change.class_label) + where
    name = name_in_sentence(change.run_name) + report.id_if_needed(change)
    difference = change.difference
    if difference is None:
        before, after = (metric_text.shown(each) for each in _printed(change))
        return f"{name}: {what} went from {before} to {after}"
    size = metric_text.difference(abs(difference), spec).lstrip("+")
    verb = "gained" if difference > 0 else "lost"
    return f"{name} {verb} {size} {what} ({_bounds(change)})"


def _bounds(change: Change) -> str:
    if change.origin is Origin.RESCORED:
        before, after = _printed(change)
        return metric_text.outside(after, before)
    spec = spec_of(change.metric, of_class=change.class_label is not None)
    low, high = (metric_text.difference(bound or 0.0, spec) for bound in (change.low, change.high))
    return f"{low.removesuffix(' pp')} to {high}"


def _printed(change: Change) -> tuple[MetricValue, MetricValue]:
    return (
        metric_text.printed(change.metric, change.before),
        metric_text.printed(change.metric, change.after),
    )


def _beyond(report: Report) -> str:
    changes = report.findings.changes.beyond
    if not changes:
        return "no change exceeds its interval"
    if len(changes) == 1:
        return f"one thing changed beyond its interval: {_change(report, changes[0])}"
    # Values of one run move together, so one from each run says more than three from the first.
    furthest: dict[str, Change] = {}
    for change in changes:
        furthest.setdefault(change.run_id, change)
    of_runs = count(len(furthest), "run")
    texts = [_change(report, each) for each in furthest.values()]
    values = listed(texts, at_most=_MOST_NAMED)
    return f"{len(changes)} values of {of_runs} changed beyond their intervals: {values}"


def _ranking(report: Report) -> str | None:
    changes = report.findings.rank_changes
    if not report.snapshot.revisions and not changes:
        return None
    cause = _cause(report) if report.snapshot.revisions else "re-evaluation"
    if not changes:
        return f"{cause} left every ranking as it was"
    by_metric = [
        (metric, tuple(moved)) for metric, moved in groupby(changes, key=attrgetter("metric"))
    ]
    metric, moved = by_metric[0]
    others = count(len(by_metric) - 1, "other ranking")
    more = f" and {others}" if len(by_metric) > 1 else ""
    by = metric_text.title_inside(metric)
    return f"{cause} changed the ranking by {by} ({_places(report, moved)}){more}"


def _cause(report: Report) -> str:
    revisions = report.snapshot.revisions
    thing = "label set" if report.snapshot.task == Task.MULTILABEL else "label"
    labels = count(sum(revision.n_changed for revision in revisions), thing)
    newest = revisions[-1].number
    of = f"of {name_in_sentence(report.scope.dataset)}"
    if len(revisions) == 1:
        return f"label version {newest} {of} ({labels} corrected)"
    return f"label versions up to {newest} {of} ({labels} corrected in {len(revisions)} steps)"


def _places(report: Report, changes: Sequence[RankChange]) -> str:
    moves = [
        f"{name_in_sentence(change.run_name)}{report.id_if_needed(change)} "
        f"from {change.before} to {change.after}"
        for change in changes
    ]
    return listed(moves, at_most=_MOST_NAMED)


def _further(report: Report) -> Iterator[str]:
    findings, snapshot = report.findings, report.snapshot
    redefined = ["offdiag's metrics"] if findings.has_new_suite else []
    redefined += map(metric_text.title_inside, findings.redefined)
    if redefined:
        yield (
            f"Since edition {findings.since} there is a new version of "
            f"{listed(redefined, at_most=_MOST_NAMED)}, which can change the values of the same "
            "predictions."
        )
    raised = findings.alerts.raised
    if raised:
        new = sum(alert.is_new for alert in raised)
        first = next((alert for alert in raised if alert.is_new), raised[0])
        example = f"{condition_text(first.condition)} in {name_in_sentence(first.run_name)}"
        yield f"{count(len(raised), 'alert')}, {new} of them new: {example}."
    yield from _of_flags(report)
    if findings.costs_before is not None and snapshot.costs is not None:
        yield (
            f"Costs are those of {snapshot.costs.text} and were those of "
            f"{findings.costs_before} before, so they were not compared."
        )
    if findings.returned:
        runs = count(len(findings.returned), "run is", "runs are")
        yield f"{runs} back that edition {findings.since} had no figures of."
    if findings.new_runs:
        yield f"{count(len(findings.new_runs), 'new run')} since edition {findings.since}."
    if findings.gone:
        names = listed([name_in_sentence(name) for name in findings.gone], at_most=_MOST_NAMED)
        runs = count(len(findings.gone), "run")
        are = "is" if len(findings.gone) == 1 else "are"
        yield f"{runs} of edition {findings.since} {are} no longer in scope: {names}."
    yield from _of_ranking(report)
    yield from _of_missing_runs(report)
    if report.edition.covers_missed:
        fires = count(report.edition.covers_missed, "earlier time", "earlier times")
        yield f"This edition also stands for {fires} at which no scheduler was running."


def _of_missing_runs(report: Report) -> Iterator[str]:
    """Runs that a reader may look for but will not find."""
    snapshot = report.snapshot
    baseline = report.scope.baseline
    if baseline is not None and snapshot.runs and all(run.id != baseline for run in snapshot.runs):
        yield f"Baseline {baseline} is not among these runs, so differences from it are missing."
    if snapshot.waiting:
        runs = count(len(snapshot.waiting), "run is", "runs are")
        yield f"{runs} not evaluated yet and not in this report."
    if snapshot.failed:
        runs = count(len(snapshot.failed), "run")
        yield f"{runs} could not be evaluated."
    if snapshot.n_elsewhere:
        runs = count(snapshot.n_elsewhere, "run has", "runs have")
        yield f"{runs} another ground truth and cannot be compared."
    if snapshot.is_cut:
        yield f"Only the newest of {snapshot.n_matching:,} runs are in this report."


def _of_ranking(report: Report) -> Iterator[str]:
    """The run with the best value, which others may equal by chance.

    Runs with sample weights have values of other quantities, and cannot be better than others.
    """
    snapshot = report.snapshot
    if not snapshot.runs:
        yield "There is no evaluated run in scope."
        return
    metric = report.scope.ranking_metric
    counted = [run for run in report.ranking if not run.has_weights]
    ranking = counted or report.ranking
    best = ranking[0].metrics[metric]
    value = metric_text.value_text(metric, best)
    names = {
        run.id: name_in_sentence(run.name) + report.id_of_namesake(run.id, run.name)
        for run in report.ranking
    }
    runs = count(len(ranking), "run")
    if counted and len(counted) < len(snapshot.runs):
        runs = f"{runs} without sample weights"
    if best.value is None:
        yield f"Of {runs}, none has a defined {metric_text.title_inside(metric)}: it is {value}."
        return
    values = {run.id: run.metrics[metric].value for run in ranking}
    named = [
        names[run_id]
        for run_id, each in values.items()
        if each is not None and is_tie(each, best.value)
    ]
    have = "has" if len(named) == 1 else "have"
    is_lower_better = spec_of(metric, of_class=False).direction is Direction.LOWER
    end = "lowest" if is_lower_better else "highest"
    yield (
        f"Of {runs}, {listed(named, at_most=_MOST_NAMED)} {have} the {end} "
        f"{metric_text.title_inside(metric)}: {value}."
    )
    if snapshot.best_of_many is not None:
        yield _of_the_choice(snapshot.best_of_many, end)
    if snapshot.best_set is not None:
        yield _may_be_best(snapshot.best_set, names)


def _of_the_choice(found: BestOfManyFigures, end: str) -> str:
    """What the run with the best value is expected to reach, given that it was chosen for it."""
    chosen = f"Chosen for being the {end} of {found.n_runs}"
    if found.corrected.value is None:
        return f"{chosen}, its value flatters it; a class has too few examples to correct that."
    expected = about(found.corrected.value)
    return f"{chosen}, it is expected to reach {expected} on new examples."


def _may_be_best(found: BestSetFigures, names: Mapping[str, str]) -> str:
    """Which of the runs that were compared together may be the best, best first."""
    may_be = [name for run_id, name in names.items() if run_id in found.may_be_best]
    n_compared = len(found.may_be_best) + len(found.worse)
    together = f"({n_compared:,} runs compared together, 95 %)"
    if not found.worse:
        return f"No run is significantly worse than the best {together}."
    others = count(len(found.worse), "run is", "runs are")
    named = listed(may_be, at_most=_MOST_NAMED)
    if len(may_be) == 1:
        return f"{others} significantly worse than {named} {together}."
    of = "either" if len(may_be) == 2 else "any"
    return f"{others} significantly worse than the best, which may be {of} of {named} {together}."


def _of_flags(report: Report) -> Iterator[str]:
    flags = report.snapshot.flags
    if flags is None:
        return
    if len(flags) < report.snapshot.n_flags:
        yield (
            f"{report.snapshot.n_flags:,} flags are raised; this report contains the most severe "
            f"{len(flags):,} and does not compare them with the edition before."
        )
        return
    n_open = sum(flag.state is FlagState.OPEN for flag in flags)
    changes = report.findings.flags
    if changes is None or changes.is_none:
        if n_open:
            yield f"{count(n_open, 'flag is', 'flags are')} open."
        return
    opened = count(len(changes.opened), "flag was", "flags were")
    done = [f"{opened} raised"]
    done += [f"{len(changes.reopened):,} reopened"] if changes.reopened else []
    done.append(f"{len(changes.closed):,} closed")
    yield (
        f"{enumerated(done)} since edition "
        f"{report.findings.since}; {n_open:,} {'is' if n_open == 1 else 'are'} open."
    )
