"""Importing projects, classes, costs, datasets and label versions that the target may have.

Label versions are recognised by their content, not by their numbers.
"""

from __future__ import annotations

from sqlalchemy import RowMapping, func, select, update

from offdiag.errors import Conflict
from offdiag.store.archive.project import Merge, table_of
from offdiag.store.models import (
    Base,
    BaselineRow,
    CommentRow,
    CostMatrixRow,
    DatasetRow,
    LabelAnswerRow,
    LabelSetRow,
    ProjectRow,
    PromotionRow,
    SampleContentRow,
    TruthChunkRow,
    TruthSliceRow,
    TruthVersionRow,
)
from offdiag.store.retention import drop_current_evaluations
from offdiag.store.runs import complete_run_ids
from offdiag.store.slices import drop_slice_counts
from offdiag.store.truths import lock_truths

_MEANING = ("label_set_id", "weights", "currency", "note")


def merge_datasets(merge: Merge) -> None:
    """Import everything around label versions and runs. Raises `Conflict`.

    Decisions made in this registry stay. Where none was made, the decision of the source is
    imported: the positive class, the groups of classes, and the costs by which runs are judged.
    """
    for row in merge.rows(ProjectRow):
        merge.projects[row["id"]] = _named_by("name", ProjectRow, row, merge)
    for row in merge.rows(LabelSetRow):
        merge.label_sets[row["id"]] = _named_by("digest", LabelSetRow, row, merge)
    for row in merge.rows(CostMatrixRow):
        merge.costs[row["id"]] = _costs(row, merge)
    for row in merge.rows(DatasetRow):
        merge.datasets[row["id"]] = _dataset(row, merge)


def merge_baselines(merge: Merge) -> None:
    """Pin the baselines of datasets that have none in the target."""
    for row in merge.rows(BaselineRow):
        if not merge.there(BaselineRow, dataset_id=merge.datasets[row["dataset_id"]]):
            merge.copy(BaselineRow, row)


def merge_promotions(merge: Merge) -> None:
    """Add champions and candidates of datasets for which the target has no decision."""
    decided = {row["dataset_id"] for row in merge.there(PromotionRow)}
    for row in merge.rows(PromotionRow):
        if merge.datasets[row["dataset_id"]] not in decided:
            merge.insert(PromotionRow, row)


def merge_dataset_comments(merge: Merge) -> None:
    """Add comments on datasets that the target does not have yet."""
    for row in merge.rows(CommentRow):
        if row["dataset_id"] is not None:
            said = {name: row[name] for name in ("at", "author", "text")}
            dataset_id = merge.datasets[row["dataset_id"]]
            if not merge.there(CommentRow, dataset_id=dataset_id, **said):
                merge.insert(CommentRow, row)


def merge_sample_content(merge: Merge) -> None:
    """Add the content of samples about which the target knows nothing."""
    table = table_of(SampleContentRow)
    for source_id, dataset_id in merge.datasets.items():
        samples = select(table.c.sample).where(table.c.dataset_id == dataset_id)
        there = set(merge.target.scalars(samples))
        for row in merge.each_row(SampleContentRow, dataset_id=source_id):
            if row["sample"] not in there:
                merge.copy(SampleContentRow, row)


def merge_label_answers(merge: Merge) -> None:
    """Add answers that the target does not have, unless they became a label version there.

    Published answers record which labels people decided, under the number that the version has in
    the target.
    """
    for source_id, dataset_id in merge.datasets.items():
        numbers = {
            version["number"]: _number_of(merge.truths[version["id"]], merge)
            for version in merge.rows(TruthVersionRow, dataset_id=source_id)
        }
        for row in merge.rows(LabelAnswerRow, dataset_id=source_id):
            number = numbers.get(row["published_in"], 0)
            same = {name: row[name] for name in ("sample", "author", "is_final")}
            if not any(
                each["published_in"] == number or each["answered_at"] == row["answered_at"]
                for each in merge.there(LabelAnswerRow, dataset_id=dataset_id, **same)
            ):
                merge.copy(LabelAnswerRow, row, published_in=number)


def _named_by(column: str, model: type[Base], row: RowMapping, merge: Merge) -> int:
    """The id of the row with the same value in a column, which is inserted if there is none."""
    there = merge.there(model, **{column: row[column]})
    return int(there[0]["id"]) if there else merge.insert(model, row)


def _costs(row: RowMapping, merge: Merge) -> int:
    """The id of the version with the same content whatever its number, else of a new version.

    Costs that were reverted occur twice: each version of the source is matched to a different one.
    """
    moved = merge.moved(row)
    versions = merge.there(CostMatrixRow, project_id=moved["project_id"], name=row["name"])
    for version in versions:
        is_same = all(version[name] == moved[name] for name in _MEANING)
        if is_same and version["id"] not in merge.costs.values():
            return int(version["id"])
    newest = max((version["version"] for version in versions), default=0)
    return merge.insert(CostMatrixRow, row, version=max(row["version"], newest + 1))


def _dataset(row: RowMapping, merge: Merge) -> int:
    table, moved = table_of(DatasetRow), merge.moved(row)
    found = merge.there(DatasetRow, project_id=moved["project_id"], name=row["name"])
    if not found:
        return merge.insert(DatasetRow, row)
    there = found[0]
    positives = {there["positive_label"], row["positive_label"]} - {None}
    same = there["label_set_id"] == moved["label_set_id"] and there["task"] == row["task"]
    if not same or len(positives) > 1:
        raise Conflict(
            f"dataset {row['name']!r} exists with other classes.",
            field="dataset",
            hint="Nothing was imported. Import it as a project of another name (--as).",
        )
    if there["labels_inferred"] != row["labels_inferred"]:
        merge.judged_otherwise.add(row["id"])
    if there["positive_label"] is not None and row["positive_label"] is None:
        merge.judged_otherwise.add(row["id"])
    if there["positive_label"] is None and row["positive_label"] is not None:
        scored = complete_run_ids(merge.target, there["id"], with_scores=True)
        drop_current_evaluations(merge.target, scored)
    merge.target.execute(
        update(table)
        .where(table.c.id == there["id"])
        .values(
            **{name: func.coalesce(table.c[name], moved[name]) for name in _DECISIONS},
            hierarchy=row["hierarchy"] if there["hierarchy"] is None else there["hierarchy"],
            positive_by_convention=_is_by_convention(there, row),
            content_hidden=there["content_hidden"] or row["content_hidden"],
        )
    )
    return int(there["id"])


_DECISIONS = (
    *("positive_label", "primary_metric"),
    *("image_template", "link_template", "default_cost_matrix_id"),
)
"""Columns of a dataset that are taken from the source where the target has nothing."""


def _is_by_convention(there: RowMapping, row: RowMapping) -> bool:
    """Whether a positive class is known, and neither the target nor the source had it chosen."""
    known = [each for each in (there, row) if each["positive_label"] is not None]
    return bool(known) and all(each["positive_by_convention"] for each in known)


def merge_truths(merge: Merge) -> None:
    """Import all label versions and slices. Raises `Conflict` for contradictions."""
    for dataset_id in sorted(merge.datasets.values()):
        lock_truths(merge.target, dataset_id)
    # A version comes after the one it corrects.
    for row in merge.rows(TruthVersionRow):
        there = _same_truth(row, merge)
        if there is None:
            _insert_truth(row, merge)
        else:
            merge.truths[row["id"]] = there
        is_correction, number = row["parent_id"] is not None, row["number"]
        if is_correction and _number_of(merge.truths[row["id"]], merge) != number:
            merge.renumbered.add(row["id"])
        _merge_slices(row["id"], merge)


def _same_truth(row: RowMapping, merge: Merge) -> int | None:
    """The version with the same content: logged with it, or made by the same correction."""
    moved = merge.moved(row)
    if row["parent_id"] is None:
        of_content = {"digest": row["digest"], "origin": "logged"}
        found = merge.there(TruthVersionRow, dataset_id=moved["dataset_id"], **of_content)
    else:
        found = merge.there(TruthVersionRow, parent_id=moved["parent_id"])
    if found and found[0]["digest"] != row["digest"]:
        raise Conflict(
            f"label version {found[0]['number']} and the imported version {row['number']} correct "
            "the same labels differently.",
            field="truth",
            hint="Nothing was imported. Settle the labels on one side first, or import it as "
            "a project of another name (--as).",
        )
    return int(found[0]["id"]) if found else None


def _insert_truth(row: RowMapping, merge: Merge) -> None:
    table, moved = table_of(TruthVersionRow), merge.moved(row)
    numbers = select(func.max(table.c.number)).where(table.c.dataset_id == moved["dataset_id"])
    number = (merge.target.scalar(numbers) or 0) + 1
    # A first version refers to itself once it has an id; references are checked at the commit.
    root_id = moved["root_id"] or 0
    truth_id = merge.insert(TruthVersionRow, row, number=number, root_id=root_id)
    merge.truths[row["id"]] = truth_id
    if row["parent_id"] is None:
        itself = update(table).where(table.c.id == truth_id).values(root_id=truth_id)
        merge.target.execute(itself)
    for chunk in merge.each_row(TruthChunkRow, truth_version_id=row["id"]):
        merge.copy(TruthChunkRow, chunk)


def _number_of(truth_id: int, merge: Merge) -> int | None:
    table = table_of(TruthVersionRow)
    return merge.target.scalar(select(table.c.number).where(table.c.id == truth_id))


def _merge_slices(truth_id: int, merge: Merge) -> None:
    there = merge.truths[truth_id]
    for row in merge.each_row(TruthSliceRow, truth_version_id=truth_id):
        same = merge.there(TruthSliceRow, truth_version_id=there, name=row["name"])
        if not same:
            merge.copy(TruthSliceRow, row)
            drop_slice_counts(merge.target, there)
        elif (same[0]["levels"], same[0]["codes"]) != (row["levels"], row["codes"]):
            raise Conflict(
                f"slice column {row['name']!r} exists with other values.",
                field="slices",
                hint="Nothing was imported. Values of a slice belong to the samples; import it "
                "as a project of another name (--as).",
            )
