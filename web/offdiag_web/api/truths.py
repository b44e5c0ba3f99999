"""The ground truth of a dataset: its versions, corrections, and what they did."""

from __future__ import annotations

from offdiag.inputs.slice_columns import GivenSlices
from offdiag.records.base import InProject
from offdiag.records.truth import (
    Corrected,
    Correction,
    Difference,
    DifferenceQuery,
    Impact,
    ImpactQuery,
    SlicesAdded,
    SlicesToAdd,
    TruthList,
    difference_document,
    impact_document,
    truth_list,
)
from offdiag.services.truth.impact import truth_impact
from offdiag.services.truth.revise import revise_truth, summary_of
from offdiag.services.truth.slices import add_slices
from offdiag.services.truth.versions import compare_truths, truth_history
from offdiag_web.api.operations import author, operation, resource
from offdiag_web.app.context import current_registry

blueprint = resource("truth")

_PATH = "/datasets/<name:name>/truth"
_LARGEST_CORRECTION = 32 * 1024 * 1024


@operation(blueprint, "GET", _PATH, answers=TruthList)
def list_truth_versions(name: str, query: InProject) -> TruthList:
    """Read all versions of the ground truth of a dataset, newest first."""
    found = truth_history(current_registry().database, project=query.project, dataset=name)
    return truth_list(found)


@operation(
    blueprint,
    "POST",
    _PATH,
    answers={200: Corrected, 201: Corrected},
    most_bytes=_LARGEST_CORRECTION,
)
def correct_truth(name: str, json: Correction) -> tuple[Corrected, int]:
    """Give samples other labels, by a new version; every run on them is scored again.

    The same correction again finds the version it made and is answered with 200.
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
    corrected = Corrected.model_validate(summary_of(name, made).to_dict())
    return corrected, 200 if made.was_there else 201


@operation(blueprint, "GET", f"{_PATH}/difference", answers=Difference)
def compare_truth_versions(name: str, query: DifferenceQuery) -> Difference:
    """Read what two versions of the labels of the same samples differ in."""
    found = compare_truths(
        current_registry().database,
        project=query.project,
        dataset=name,
        before=query.before,
        after=query.after,
    )
    return difference_document(
        found, project=query.project, dataset=name, start=query.start, limit=query.limit
    )


@operation(blueprint, "GET", f"{_PATH}/<number:number>/impact", answers=Impact)
def get_truth_impact(name: str, number: int, query: ImpactQuery) -> Impact:
    """Read what a correction did to the runs that are scored with it."""
    found = truth_impact(
        current_registry().database,
        project=query.project,
        dataset=name,
        number=number,
        since=query.since,
    )
    return impact_document(found)


@operation(
    blueprint,
    "POST",
    "/datasets/<name:name>/slices",
    answers=SlicesAdded,
    most_bytes=_LARGEST_CORRECTION,
)
def add_slice_columns(name: str, json: SlicesToAdd) -> SlicesAdded:
    """Give the samples of a dataset slice columns; its runs are evaluated by them."""
    added = add_slices(
        current_registry().database,
        project=json.project,
        dataset=name,
        given=GivenSlices(json.columns, json.ids, json.bins, json.periods),
        version=json.version,
    )
    return SlicesAdded(
        dataset=added.dataset, root=added.root, columns=list(added.columns), n_runs=added.n_runs
    )
