"""Requests to a server: runs, evaluations, corrected labels, slice columns, groups of classes."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from pydantic import TypeAdapter
from pydantic_core import PydanticSerializationError

from offdiag.domain.hierarchy import ALL_GROUPS, Collapse, Hierarchy, collapse_groups
from offdiag.domain.labels import LabelSet, TruthRevision
from offdiag.domain.runs import FoundRun, FoundRuns, RunState
from offdiag.domain.texts import name_segment
from offdiag.errors import EvaluationPending, InvalidInput, NotFound
from offdiag.inputs.ids import sample_ids
from offdiag.inputs.label_changes import read_label_changes
from offdiag.inputs.labels import Codes
from offdiag.inputs.slice_columns import AddedSlices, GivenSlices, slice_notes
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.counted import Counted, CountedSets, are_sets
from offdiag.metrics.multilabel.sets import is_known, unpack_sets
from offdiag.metrics.multilabel.tally import tally_of_numbers
from offdiag.metrics.weighted.counts import WeightedCounts
from offdiag.records.base import MOST_ON_A_PAGE, Answer, RequestBody, ResponseBody
from offdiag.records.datasets.dataset import Dataset, Grouping
from offdiag.records.datasets.truth import Correction, SlicesToAdd
from offdiag.records.runs.evaluation import CollapsedGroups, EvaluationResponse, WeightedBody
from offdiag.records.runs.run import Labels, Run
from offdiag.records.runs.run_list import RunPage, found_run
from offdiag.sdk.evaluations.evaluation import Evaluation
from offdiag.sdk.evaluations.flag import Flag, Judgement
from offdiag.sdk.registry import RevisionQuestion, SearchQuestion
from offdiag.sdk.remote.connection import Connection, delays, once_evaluated, with_retries


@dataclass(frozen=True, slots=True)
class Reader:
    """Sends requests to a server, and retries for as long as configured."""

    connection: Connection
    retry_for_s: float

    def get(self, path: str, answer: type[Answer], **params: Any) -> Answer:
        """The response to a GET request; parameters that are None are left out."""
        asked = {name: value for name, value in params.items() if value is not None}
        body = with_retries(
            lambda: self.connection.ask("GET", path, params=asked), retry_for_s=self.retry_for_s
        )
        return answer.model_validate_json(body)

    def send(self, method: str, path: str, asked: RequestBody) -> bytes:
        """The response to a request that can be sent twice without acting twice."""
        try:
            body = asked.model_dump_json(exclude_unset=True)
        except PydanticSerializationError as error:
            raise InvalidInput(
                "a text has half of a surrogate pair.",
                hint="It is not Unicode text; read it in the encoding it was written in.",
            ) from error
        return with_retries(
            lambda: self.connection.send(method, path, body), retry_for_s=self.retry_for_s
        )


def logged_body(asked: RequestBody) -> str:
    """What is logged as JSON, without fields at their defaults.

    An older server refuses fields that it does not know. The offline queue reads the project.
    """
    usual = {
        name
        for name, field in type(asked).model_fields.items()
        if name != "project" and getattr(asked, name) == field.default
    }
    return asked.model_dump_json(exclude=usual)


@dataclass(frozen=True, slots=True)
class KnownClasses:
    """The classes of a dataset and what is declared about them."""

    name: str
    labels: LabelSet
    labels_inferred: bool
    positive_label: str | None


class _Dataset(ResponseBody):
    labels: Labels
    positive_label: str | None


def dataset_classes(reader: Reader, name: str, project: str) -> KnownClasses | None:
    """The classes of a dataset; None if it does not exist."""
    try:
        found = reader.get(f"/datasets/{name_segment(name)}", _Dataset, project=project)
    except NotFound:
        return None
    labels = found.labels.label_set()
    return KnownClasses(name, labels, labels.inferred, found.positive_label)


def search(reader: Reader, question: SearchQuestion) -> FoundRuns:
    """The runs that match a filter, page by page."""
    found: list[FoundRun] = []
    token: str | None = None
    while True:
        page = reader.get(
            "/runs",
            RunPage,
            filter=question.filter_text or None,
            order_by=list(question.order_by) or None,
            project=question.project,
            limit=min(question.limit - len(found), MOST_ON_A_PAGE),
            page_token=token,
        )
        found += map(found_run, page.runs)
        token = page.next_page_token
        if token is None or len(found) >= question.limit:
            return FoundRuns(found, page.n_without_slices, is_cut=token is not None)


def evaluation(
    reader: Reader, run_id: str, *, timeout_s: float, part: str | None, groups: tuple[str, ...]
) -> Evaluation:
    """The evaluation of a run, requested until it exists or the time is up."""
    found = once_evaluated(
        lambda: reader.get(
            f"/runs/{run_id}/evaluation",
            EvaluationResponse,
            slice=part,
            collapse=list(groups) or None,
        ),
        run_id,
        timeout_s=timeout_s,
    )
    flags = tuple(Flag(**dict(each)) for each in found.flags)
    collapse = None if found.collapse is None else _collapse(found.collapse)
    return Evaluation.of_values(
        _counted(found, collapse),
        aggregate={key: value.measured() for key, value in found.aggregate.items()},
        per_class={
            key: tuple(value.measured() for value in values)
            for key, values in found.per_class.items()
        },
        judgement=Judgement(flags, badge=found.badge, may_hide=found.may_hide),
        collapse=collapse,
    )


def _collapse(found: CollapsedGroups) -> Collapse:
    classes = found.classes.label_set()
    return collapse_groups(classes, Hierarchy.declared(found.groups, classes), [ALL_GROUPS])


def _counted(found: EvaluationResponse, collapse: Collapse | None) -> Counted:
    labels = LabelSet(tuple(found.labels.names), found.labels.ordinal)
    left = labels if collapse is None else collapse.labels
    return counted_of(left, found.matrix, found.set_counts, found.weighted)


def counted_of(
    labels: LabelSet,
    matrix: list[list[int]] | None,
    set_counts: list[int] | None,
    weighted: WeightedBody | None = None,
) -> Counted:
    """The counts in the document of a run."""
    if weighted is not None:
        return WeightedCounts(
            np.array(weighted.counts, dtype=np.int64),
            np.array(weighted.matrix, dtype=np.float64),
            np.array(weighted.squares, dtype=np.float64),
            labels,
        )
    if set_counts is not None:
        numbers = np.array(set_counts, dtype=np.int64)
        return CountedSets(tally_of_numbers(numbers, len(labels)), labels)
    return ConfusionMatrix(np.array(matrix, dtype=np.int64), labels)


def retry_evaluation(reader: Reader, run_id: str) -> None:
    """Try a job again that failed permanently."""
    found = reader.get(f"/runs/{run_id}", Run)
    if found.state is RunState.FAILED and found.work is not None:
        path = f"/jobs/{found.work.id}/retry"
        with_retries(lambda: reader.connection.ask("POST", path), retry_for_s=reader.retry_for_s)


_WAITING = SearchQuestion("attributes.state = 'finished'", (), None, 10_000)


def wait_for_evaluations(reader: Reader, timeout_s: float) -> int:
    """Wait until workers of the server have evaluated all pending runs; how many they were."""
    give_up_at = time.monotonic() + timeout_s
    waiting = {run.id for run in search(reader, _WAITING).runs}
    left = set(waiting)
    for delay_s in delays():
        if not left:
            break
        if time.monotonic() > give_up_at:
            raise EvaluationPending(
                f"{len(left)} runs were not evaluated within {timeout_s:g} s.",
                field="timeout",
                hint="Check that a worker runs, or wait longer; nothing is lost.",
            )
        time.sleep(delay_s)
        left &= {run.id for run in search(reader, _WAITING).runs}
    return len(waiting)


def revise_truth(reader: Reader, question: RevisionQuestion) -> TruthRevision:
    """Correct labels on the server."""
    known = dataset_classes(reader, question.dataset, question.project)
    if known is None:
        raise NotFound(
            f"project {question.project!r} has no dataset {question.dataset!r}.",
            field="dataset",
            hint="Check both names.",
        )
    changes = read_label_changes(question.labels, known.labels, question.names)
    body = Correction.asked(
        project=question.project,
        samples=changes.ids.to_list(),
        labels=_named(changes.codes, known.labels),
        reason=question.reason,
        version=question.version,
        author=question.author,
    )
    path = f"/datasets/{name_segment(question.dataset)}/truth"
    answer = reader.send("POST", path, body)
    return TypeAdapter(TruthRevision).validate_json(answer)


def add_slices(
    reader: Reader, project: str, dataset: str, given: GivenSlices, version: int | None
) -> AddedSlices:
    """Send slice columns to the server, as text: ranges and periods are computed here."""
    ids = None if given.ids is None else sample_ids(given.ids, field="ids").to_list()
    columns = given.read(None if ids is None else len(ids))
    body = SlicesToAdd.asked(
        project=project,
        ids=ids,
        columns={name: column.to_list() for name, column in columns.items()},
        version=version,
    )
    answer = reader.send("POST", f"/datasets/{name_segment(dataset)}/slices", body)
    added = TypeAdapter(AddedSlices).validate_json(answer)
    return replace(added, notes=slice_notes(columns))


def _named(codes: Codes, labels: LabelSet) -> list[str | None] | list[list[str] | None]:
    """Classes or sets by name; None if a sample is to have none any more."""
    size = len(labels)
    if not are_sets(codes):
        names = [*labels.names, None]
        return [names[code] for code in codes.tolist()]
    members, known = unpack_sets(codes, size), is_known(codes, size)
    return [
        [labels.names[code] for code in np.flatnonzero(row)] if is_there else None
        for row, is_there in zip(members, known, strict=True)
    ]


def set_hierarchy(
    reader: Reader, project: str, dataset: str, given: object | None
) -> Hierarchy | None:
    """Group classes, replacing earlier groups; None removes them."""
    path = f"/datasets/{name_segment(dataset)}"
    hierarchy = None
    if given is not None:
        known = reader.get(path, Dataset, project=project)
        hierarchy = Hierarchy.declared(given, known.labels.label_set())
    groups = None if hierarchy is None else hierarchy.to_dict()
    reader.send("PUT", f"{path}/hierarchy", Grouping.asked(project=project, hierarchy=groups))
    return hierarchy
