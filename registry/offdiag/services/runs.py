"""What the pages of a run's history and of a model read, and what people write about a run.

One function per page and one transaction per call. The history tells how the results of a run
came to be what they are: every evaluation, and what differed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from offdiag.domain.runs import Scalar, stored_note
from offdiag.domain.slices import parse_slice
from offdiag.domain.texts import require_reason
from offdiag.errors import InvalidInput, NotFound, Stale
from offdiag.filters.conditions import Attribute, AttributeField, Comparison, Operator
from offdiag.services.small_groups import sizes_of_run, suppressed_below
from offdiag.store import runs
from offdiag.store.audit_log import describe
from offdiag.store.comments import About, add_comments
from offdiag.store.database import Database, Session
from offdiag.store.dataset_page import DatasetFacts, dataset_list
from offdiag.store.evaluations import PastEvaluation, evaluation_history
from offdiag.store.project_access import project_of_run
from offdiag.store.run_list import run_list
from offdiag.store.run_order import RunOrder
from offdiag.store.run_page import RunDetail, read_run
from offdiag.store.run_rows import LISTED_METRICS, LISTED_OF_SETS, RunEntry
from offdiag.store.runs import RunRecord

HISTORY_KEYS = ("overall_accuracy", "balanced_accuracy", "mcc", "macro_f1")
KEYS_OF_SETS = ("subset_accuracy", "hamming_loss", "example_jaccard")
"""What runs have, beside the last of these, whose samples carry sets of labels."""
ALL_KEYS = (*HISTORY_KEYS, *KEYS_OF_SETS)


@dataclass(frozen=True)
class HistoryEntry:
    """An evaluation and, in words, what was different from the one before it of the same samples.

    `differences` is empty for the first one.
    """

    evaluation: PastEvaluation
    differences: tuple[str, ...]


def run_history(database: Database, run_id: str) -> tuple[HistoryEntry, ...]:
    """All evaluations of a run and of its slices, oldest first. Raises `NotFound`."""
    with database.read() as session:
        runs.get_run(session, run_id)
        found = _shown_history(session, run_id)
    return with_differences(found)


def _shown_history(session: Session, run_id: str) -> list[PastEvaluation]:
    """The evaluations of a run without those of slices that are too small to be shown."""
    found = evaluation_history(session, run_id, keys=ALL_KEYS)
    k = suppressed_below()
    if not k or all(each.slice is None for each in found):
        return list(found)
    sizes = sizes_of_run(session, runs.get_run(session, run_id), k)
    return [
        each
        for each in found
        if each.slice is None or not (sizes and sizes.is_hidden(parse_slice(each.slice)))
    ]


def with_differences(evaluations: Sequence[PastEvaluation]) -> tuple[HistoryEntry, ...]:
    """Each evaluation, oldest first, compared with the one before it of the same slice."""
    latest: dict[str | None, PastEvaluation] = {}
    entries = []
    for evaluation in evaluations:
        before = latest.get(evaluation.slice)
        differs = () if before is None else _differences(before, evaluation)
        entries.append(HistoryEntry(evaluation, differs))
        latest[evaluation.slice] = evaluation
    return tuple(entries)


def _differences(before: PastEvaluation, after: PastEvaluation) -> tuple[str, ...]:
    compared = (
        ("truth version", before.truth_number, after.truth_number),
        ("metrics version", before.suite_version, after.suite_version),
        ("offdiag", before.engine_version, after.engine_version),
        ("labelled samples", before.n_labelled, after.n_labelled),
    )
    return tuple(f"{what} {was} → {now}" for what, was, now in compared if was != now)


@dataclass(frozen=True, slots=True)
class RunHistory:
    """A run with all its evaluations, oldest first, those of its slices included."""

    detail: RunDetail
    entries: tuple[HistoryEntry, ...]


def browse_history(database: Database, run_id: str) -> RunHistory:
    """How the results of a run came about. Raises `NotFound`."""
    with database.read() as session:
        detail = read_run(session, run_id)
        found = _shown_history(session, run_id)
    return RunHistory(detail, with_differences(found))


RUNS_OF_A_MODEL = 50


@dataclass(frozen=True, slots=True)
class ModelRuns:
    """A model's newest runs, oldest first, by project and dataset; `total` counts all."""

    name: str
    total: int
    by_dataset: tuple[tuple[DatasetFacts, tuple[RunEntry, ...]], ...]


def browse_model(database: Database, name: str) -> ModelRuns:
    """The newest runs that were logged under a model's name. Raises `NotFound`."""
    named = Comparison(AttributeField(Attribute.MODEL), Operator.EQUAL, (name,))
    with database.read() as session:
        page = run_list(
            session,
            terms=(named,),
            dataset_id=None,
            order=RunOrder(),
            cursor=None,
            limit=RUNS_OF_A_MODEL,
            metrics=(*LISTED_METRICS, *LISTED_OF_SETS),
        )
        datasets = {(each.project, each.name): each for each in dataset_list(session)}
    if page.total == 0:
        raise NotFound(
            f"no run was logged with the model {name!r}.",
            field="model",
            hint="Names are compared letter by letter; the list of runs has them all.",
        )
    oldest_first = sorted(page.entries, key=lambda run: (run.project, run.dataset, run.created_at))
    grouped = groupby(oldest_first, key=lambda run: (run.project, run.dataset))
    return ModelRuns(
        name, page.total, tuple((datasets[dataset], tuple(runs)) for dataset, runs in grouped)
    )


def change_run(
    database: Database,
    run_id: str,
    *,
    tags: Mapping[str, Scalar] | None = None,
    added_tags: Mapping[str, Scalar] | None = None,
    note: str | None = None,
    seen: RunRecord | None = None,
) -> None:
    """Replace the tags of a run, add some to them, replace its note; a blank note removes it.

    Jobs that add tags at the same time lose none. With `seen` only while tags and note
    are as they were in it. Raises `NotFound`, `Stale`, and `InvalidInput` for nothing to change,
    unusable tags, or a note that is too long or cannot be stored.
    """
    if tags is None and added_tags is None and note is None:
        raise InvalidInput(
            "nothing to change is named.", field="tags", hint="Name tags, a note, or both."
        )
    if note is not None:
        note = stored_note(note)
    with database.write() as session:
        known = runs.lock_run(session, run_id, alone=True)
        if seen is not None and (known.tags, known.note) != (seen.tags, seen.note):
            raise Stale(
                "the run was changed since you read it.",
                field="If-Match",
                hint="Read it again, then retry. Nothing was changed.",
            )
        if tags is not None or added_tags is not None:
            wanted = {**(known.tags if tags is None else tags), **(added_tags or {})}
            runs.set_tags(session, run_id, known.facts(tags=wanted).tags)
        if note is not None:
            runs.set_note(session, run_id, note or None)


def tag_runs(database: Database, run_ids: Sequence[str], key: str, value: Scalar | None) -> None:
    """Give runs a tag beside those they have, or take it from them where `value` is None.

    Either all of them change or none. Raises `NotFound`, and `InvalidInput` for no runs or a tag
    that cannot be stored.
    """
    if not run_ids:
        raise InvalidInput("no run is chosen.", field="runs", hint="Tick the runs that are meant.")
    with database.write() as session:
        # In one order, so that two of these do not wait for each other.
        ordered, projects = sorted(set(run_ids)), set[int]()
        for run_id in ordered:
            known = runs.lock_run(session, run_id, alone=True)
            tags = {name: text for name, text in known.tags.items() if name != key}
            if value is not None:
                tags[key] = value
            runs.set_tags(session, run_id, known.facts(tags=tags).tags)
            projects.add(known.project_id)
        (project,) = project_of_run(session, ordered[0]) if len(projects) == 1 else (None,)
        describe(
            session,
            action="tag-runs",
            subject=", ".join(ordered),
            project=project,
            detail={"tag": key, "value": value, "n_runs": len(ordered)},
        )


def comment_on_run(database: Database, run_id: str, *, text: str, author: str | None) -> None:
    """Add a comment to a run. Raises `NotFound`, and `InvalidInput` for a blank or long text."""
    remark = require_reason(text, field="comment")
    with database.write() as session:
        runs.get_run(session, run_id)
        add_comments(
            session, About.RUN, [run_id], text=remark, author=author, now=database.clock()
        )
