"""The ground truth of a dataset: label versions, corrections, and their effect."""

from __future__ import annotations

from flask import request

from offdiag.domain.access import Role
from offdiag.inputs.labels import require_equal_lengths
from offdiag.inputs.slice_columns import GivenSlices
from offdiag.records.base import InProject
from offdiag.records.datasets.draft import (
    AnsweredTasks,
    AnswersStored,
    Draft,
    DraftQuery,
    LabelTasks,
    ProposedLabels,
    PublishedDraft,
    TasksQuery,
    UndoneVersion,
    WithdrawnLabels,
    asked_answers,
    asked_import,
    asked_withdrawal,
    draft_document,
)
from offdiag.records.datasets.truth import (
    Corrected,
    Correction,
    Difference,
    DifferenceQuery,
    Impact,
    ImpactQuery,
    SlicesAdded,
    SlicesToAdd,
    TruthList,
    asked_difference,
    asked_impact,
    asked_truths,
)
from offdiag.services.samples import drafts, tasks
from offdiag.services.truth.revise import Revision, revise_truth, summary_of
from offdiag.services.truth.versions import add_slices
from offdiag_web.api.operations import author, operation, require_match, resource
from offdiag_web.app.context import current_registry, kept_suspects, requires, signed_in_user

blueprint = resource("truth")

_PATH = "/datasets/<name:name>/truth"
_LARGEST_CORRECTION = 32 * 1024 * 1024


@operation(blueprint, "GET", _PATH)
def list_truth_versions(name: str, query: InProject) -> TruthList:
    """Read all label versions of a dataset, newest first."""
    return asked_truths(current_registry().database, query.project, name)


@operation(blueprint, "POST", _PATH, statuses=(200, 201), most_bytes=_LARGEST_CORRECTION)
def correct_truth(name: str, json: Correction) -> tuple[Corrected, int]:
    """Correct labels of samples in a new label version; every run on them is re-evaluated.
    Repeating the same correction returns the version it created with status 200.
    """
    made = revise_truth(
        current_registry().database,
        project=json.project,
        dataset=name,
        labels=(json.samples, json.labels),
        reason=json.reason,
        author=author(json.author),
        version=json.version,
    )
    return _corrected(name, made)


def _corrected(name: str, made: Revision) -> tuple[Corrected, int]:
    corrected = Corrected.model_validate(summary_of(name, made).to_dict())
    return corrected, 200 if made.was_there else 201


@operation(blueprint, "GET", f"{_PATH}/difference")
def compare_truth_versions(name: str, query: DifferenceQuery) -> Difference:
    """Read the differences between two label versions of the same samples."""
    return asked_difference(current_registry().database, name, query, limit=query.limit)


@operation(blueprint, "GET", f"{_PATH}/<number:number>/impact")
def get_truth_impact(name: str, number: int, query: ImpactQuery) -> Impact:
    """Read the effect of a correction on the runs evaluated with it."""
    return asked_impact(current_registry().database, name, number, query)


@operation(blueprint, "POST", f"{_PATH}/<number:number>/undo", statuses=(200, 201))
def undo_truth_version(name: str, number: int, json: UndoneVersion) -> tuple[Corrected, int]:
    """Revert the label changes of a version in a new version."""
    made = drafts.undo_version(
        current_registry().database,
        project=json.project,
        dataset=name,
        number=number,
        reason=json.reason,
        author=author(json.author),
    )
    return _corrected(name, made)


_DRAFT = "/datasets/<name:name>/draft"


@operation(blueprint, "GET", _DRAFT)
def get_draft(name: str, query: DraftQuery) -> Draft:
    """Read the labels proposed for the next version, and how well people agree.

    What one person alone said of a sample is shown only to that person.
    """
    found = drafts.label_draft(current_registry().database, project=query.project, dataset=name)
    return draft_document(found, _person(query.author))


@operation(blueprint, "POST", _DRAFT)
@requires(Role.LABELER)
def propose_labels(name: str, json: ProposedLabels) -> AnswersStored:
    """Store the labels that the caller proposes, replacing their earlier ones."""
    return _answered(name, json)


@operation(blueprint, "POST", f"{_DRAFT}/decide")
def decide_labels(name: str, json: ProposedLabels) -> AnswersStored:
    """Decide labels on which people disagree."""
    return _answered(name, json, is_final=True)


def _answered(name: str, json: ProposedLabels, *, is_final: bool = False) -> AnswersStored:
    require_equal_lengths(samples=len(json.samples), labels=len(json.labels))
    person = _person(json.author)
    return asked_answers(current_registry().database, name, json, person, is_final=is_final)


def _person(stated: str | None) -> str | None:
    """Whose answers these are: with several tokens a user is still one person."""
    who = signed_in_user()
    return who.account if who.is_signed_in else author(stated)


@operation(blueprint, "POST", f"{_DRAFT}/withdraw")
@requires(Role.LABELER)
def withdraw_labels(name: str, json: WithdrawnLabels) -> AnswersStored:
    """Withdraw the labels that the caller proposed."""
    return asked_withdrawal(current_registry().database, name, json, _person(json.author))


@operation(blueprint, "POST", f"{_DRAFT}/publish", statuses=(200, 201), is_guarded=True)
def publish_draft(name: str, json: PublishedDraft) -> tuple[Corrected, int]:
    """Create a label version from the samples on which enough answers agree.

    With `If-Match`, only if the draft has not changed since it was read.
    """
    database, seen = current_registry().database, None
    if request.if_match:
        found = drafts.label_draft(database, project=json.project, dataset=name)
        require_match(draft_document(found, _person(json.author)))
        seen = found.revision
    made = drafts.publish_draft(
        database,
        project=json.project,
        dataset=name,
        reason=json.reason,
        author=author(json.author),
        opinions=json.opinions,
        seen=seen,
    )
    return _corrected(name, made)


@operation(blueprint, "GET", f"{_DRAFT}/tasks")
def get_label_tasks(name: str, query: TasksQuery) -> LabelTasks:
    """Read suspect labels and the draft as tasks for Label Studio or Argilla."""
    registry = current_registry()
    found = tasks.label_tasks(
        registry.database,
        project=query.project,
        dataset=name,
        tool=query.tool,
        limit=query.limit,
        hosts=registry.content_hosts,
        kept=kept_suspects(),
    )
    return LabelTasks(tasks=found)


@operation(blueprint, "POST", f"{_DRAFT}/tasks", most_bytes=_LARGEST_CORRECTION)
def import_label_tasks(name: str, json: AnsweredTasks) -> AnswersStored:
    """Add the answers in an export from Label Studio or Argilla to the draft."""
    return asked_import(current_registry().database, name, json, author(json.author))


@operation(blueprint, "POST", "/datasets/<name:name>/slices", most_bytes=_LARGEST_CORRECTION)
def add_slice_columns(name: str, json: SlicesToAdd) -> SlicesAdded:
    """Add slice columns to the samples of a dataset; its runs are evaluated on their slices."""
    added = add_slices(
        current_registry().database,
        project=json.project,
        dataset=name,
        given=GivenSlices(json.columns, json.ids, json.bins, json.periods),
        version=json.version,
    )
    return SlicesAdded(
        dataset=added.dataset,
        root=added.root,
        columns=list(added.columns),
        n_runs=added.n_runs,
        notices=list(added.notes),
    )
