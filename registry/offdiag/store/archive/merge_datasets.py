"""Importing projects, classes, costs, datasets and label versions that the target may have.

Label versions are recognised by their content, not by their numbers.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import RowMapping, func, select, update
from sqlalchemy.orm import Session

from offdiag.errors import Conflict
from offdiag.store.archive.project import (
    KnownAs,
    copy_row,
    each_row_of,
    insert_row,
    rows_of,
    table_of,
)
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


def merge_datasets(source: Session, target: Session, known: KnownAs) -> None:
    """Import everything around label versions and runs. Raises `Conflict`.

    Decisions made in this registry stay. Where none was made, the decision of the source is
    imported: the positive class, the groups of classes, and the costs by which runs are judged.
    """
    for row in rows_of(source, table_of(ProjectRow)):
        known.projects[row["id"]] = _named_by("name", target, ProjectRow, row, known)
    for row in rows_of(source, table_of(LabelSetRow)):
        known.label_sets[row["id"]] = _named_by("digest", target, LabelSetRow, row, known)
    for row in rows_of(source, table_of(CostMatrixRow)):
        known.costs[row["id"]] = _costs(target, row, known)
    for row in rows_of(source, table_of(DatasetRow)):
        known.datasets[row["id"]] = _dataset(target, row, known)


def merge_baselines(source: Session, target: Session, known: KnownAs) -> None:
    """Pin the baselines of datasets that have none in the target."""
    table = table_of(BaselineRow)
    for row in rows_of(source, table):
        dataset_id = known.datasets[row["dataset_id"]]
        if not rows_of(target, table, dataset_id=dataset_id):
            values = dict(row) | {"dataset_id": dataset_id, "run_id": known.runs[row["run_id"]]}
            target.execute(table.insert(), values)
            known.added[table.name] += 1


def merge_promotions(source: Session, target: Session, known: KnownAs) -> None:
    """Add champions and candidates of datasets for which the target has no decision."""
    table = table_of(PromotionRow)
    decided = {row["dataset_id"] for row in rows_of(target, table)}
    for row in rows_of(source, table):
        dataset_id = known.datasets[row["dataset_id"]]
        if dataset_id not in decided:
            run_id = known.runs.get(row["run_id"], row["run_id"])
            insert_row(target, table, row, known, dataset_id=dataset_id, run_id=run_id)


def merge_dataset_comments(source: Session, target: Session, known: KnownAs) -> None:
    """Add comments on datasets that the target does not have yet."""
    table = table_of(CommentRow)
    for row in rows_of(source, table):
        if row["dataset_id"] is not None:
            said = {name: row[name] for name in ("at", "author", "text")}
            dataset_id = known.datasets[row["dataset_id"]]
            if not rows_of(target, table, dataset_id=dataset_id, **said):
                insert_row(target, table, row, known, dataset_id=dataset_id)


def merge_sample_content(source: Session, target: Session, known: KnownAs) -> None:
    """Add the content of samples about which the target knows nothing."""
    table = table_of(SampleContentRow)
    for source_id, dataset_id in known.datasets.items():
        there = set(target.scalars(select(table.c.sample).where(table.c.dataset_id == dataset_id)))
        for row in each_row_of(source, table, dataset_id=source_id):
            if row["sample"] not in there:
                copy_row(target, table, row, known, dataset_id=dataset_id)


def merge_label_answers(source: Session, target: Session, known: KnownAs) -> None:
    """Add answers that the target does not have, unless they became a label version there.

    Published answers record which labels people decided, under the number that the version has in
    the target.
    """
    table, versions = table_of(LabelAnswerRow), table_of(TruthVersionRow)
    for source_id, dataset_id in known.datasets.items():
        numbers = {
            version["number"]: _number_of(target, known.truths[version["id"]])
            for version in rows_of(source, versions, dataset_id=source_id)
        }
        for row in rows_of(source, table, dataset_id=source_id):
            number = numbers.get(row["published_in"], 0)
            there = rows_of(
                target,
                table,
                dataset_id=dataset_id,
                **{name: row[name] for name in ("sample", "author", "is_final")},
            )
            if not any(
                each["published_in"] == number or each["answered_at"] == row["answered_at"]
                for each in there
            ):
                copy_row(target, table, row, known, dataset_id=dataset_id, published_in=number)


def _named_by(
    column: str, target: Session, model: type[Base], row: RowMapping, known: KnownAs
) -> int:
    """The id of the row with the same value in a column, which is inserted if there is none."""
    table = table_of(model)
    there = target.scalar(select(table.c.id).where(table.c[column] == row[column]))
    return insert_row(target, table, row, known) if there is None else int(there)


def _costs(target: Session, row: RowMapping, known: KnownAs) -> int:
    """The id of the version with the same content whatever its number, else of a new version.

    Costs that were reverted occur twice: each version of the source is matched to a different one.
    """
    table = table_of(CostMatrixRow)
    project_id = known.projects[row["project_id"]]
    label_set_id = known.label_sets[row["label_set_id"]]
    wanted = _said(dict(row) | {"label_set_id": label_set_id})
    versions = rows_of(target, table, project_id=project_id, name=row["name"])
    for version in versions:
        if _said(dict(version)) == wanted and version["id"] not in known.costs.values():
            return int(version["id"])
    newest = max((version["version"] for version in versions), default=0)
    return insert_row(
        target,
        table,
        row,
        known,
        project_id=project_id,
        label_set_id=label_set_id,
        version=max(row["version"], newest + 1),
    )


def _said(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in _MEANING)


def _dataset(target: Session, row: RowMapping, known: KnownAs) -> int:
    table = table_of(DatasetRow)
    given = {
        "project_id": known.projects[row["project_id"]],
        "label_set_id": known.label_sets[row["label_set_id"]],
        "default_cost_matrix_id": known.costs.get(row["default_cost_matrix_id"]),
    }
    found = rows_of(target, table, project_id=given["project_id"], name=row["name"])
    if not found:
        return insert_row(target, table, row, known, **given)
    there = found[0]
    _require_same_classes(row, there, label_set_id=given["label_set_id"])
    if there["labels_inferred"] != row["labels_inferred"]:
        known.judged_otherwise.add(row["id"])
    if there["positive_label"] is not None and row["positive_label"] is None:
        known.judged_otherwise.add(row["id"])
    if there["positive_label"] is None and row["positive_label"] is not None:
        drop_current_evaluations(target, complete_run_ids(target, there["id"], with_scores=True))
    target.execute(
        update(table)
        .where(table.c.id == there["id"])
        .values(
            positive_label=func.coalesce(table.c.positive_label, row["positive_label"]),
            positive_by_convention=_is_by_convention(there, row),
            primary_metric=func.coalesce(table.c.primary_metric, row["primary_metric"]),
            image_template=func.coalesce(table.c.image_template, row["image_template"]),
            link_template=func.coalesce(table.c.link_template, row["link_template"]),
            content_hidden=there["content_hidden"] or row["content_hidden"],
            hierarchy=row["hierarchy"] if there["hierarchy"] is None else there["hierarchy"],
            default_cost_matrix_id=func.coalesce(
                table.c.default_cost_matrix_id, given["default_cost_matrix_id"]
            ),
        )
    )
    return int(there["id"])


def _is_by_convention(there: RowMapping, row: RowMapping) -> bool:
    """Whether a positive class is known, and neither the target nor the source had it chosen."""
    known = [each for each in (there, row) if each["positive_label"] is not None]
    return bool(known) and all(each["positive_by_convention"] for each in known)


def _require_same_classes(row: RowMapping, there: RowMapping, *, label_set_id: int | None) -> None:
    positives = {there["positive_label"], row["positive_label"]} - {None}
    same = there["label_set_id"] == label_set_id and there["task"] == row["task"]
    if not same or len(positives) > 1:
        raise Conflict(
            f"dataset {row['name']!r} exists with other classes.",
            field="dataset",
            hint="Nothing was imported. Import it as a project of another name (--as).",
        )


def merge_truths(source: Session, target: Session, known: KnownAs) -> None:
    """Import all label versions and slices. Raises `Conflict` for contradictions."""
    for dataset_id in sorted(known.datasets.values()):
        lock_truths(target, dataset_id)
    # A version comes after the one it corrects.
    for row in rows_of(source, table_of(TruthVersionRow)):
        there = _same_truth(target, row, known)
        if there is None:
            there = _insert_truth(source, target, row, known)
        known.truths[row["id"]] = there
        if row["parent_id"] is not None and _number_of(target, there) != row["number"]:
            known.renumbered.add(row["id"])
        _merge_slices(source, target, row["id"], known)


def _same_truth(target: Session, row: RowMapping, known: KnownAs) -> int | None:
    """The version with the same content: logged with it, or made by the same correction."""
    table = table_of(TruthVersionRow)
    if row["parent_id"] is None:
        found = rows_of(
            target,
            table,
            dataset_id=known.datasets[row["dataset_id"]],
            digest=row["digest"],
            origin="logged",
        )
        return int(found[0]["id"]) if found else None
    found = rows_of(target, table, parent_id=known.truths[row["parent_id"]])
    if found and found[0]["digest"] != row["digest"]:
        raise Conflict(
            f"label version {found[0]['number']} and the imported version {row['number']} correct "
            "the same labels differently.",
            field="truth",
            hint="Nothing was imported. Settle the labels on one side first, or import it as "
            "a project of another name (--as).",
        )
    return int(found[0]["id"]) if found else None


def _insert_truth(source: Session, target: Session, row: RowMapping, known: KnownAs) -> int:
    table = table_of(TruthVersionRow)
    dataset_id = known.datasets[row["dataset_id"]]
    newest = target.scalar(
        select(func.max(table.c.number)).where(table.c.dataset_id == dataset_id)
    )
    parent = row["parent_id"]
    truth_id = insert_row(
        target,
        table,
        row,
        known,
        dataset_id=dataset_id,
        number=(newest or 0) + 1,
        parent_id=None if parent is None else known.truths[parent],
        # A first version refers to itself once it has an id; references are checked at the commit.
        root_id=0 if parent is None else known.truths[row["root_id"]],
    )
    if parent is None:
        target.execute(update(table).where(table.c.id == truth_id).values(root_id=truth_id))
    chunks = table_of(TruthChunkRow)
    for chunk in each_row_of(source, chunks, truth_version_id=row["id"]):
        copy_row(target, chunks, chunk, known, truth_version_id=truth_id)
    return truth_id


def _number_of(target: Session, truth_id: int) -> int | None:
    table = table_of(TruthVersionRow)
    return target.scalar(select(table.c.number).where(table.c.id == truth_id))


def _merge_slices(source: Session, target: Session, truth_id: int, known: KnownAs) -> None:
    table = table_of(TruthSliceRow)
    there = known.truths[truth_id]
    for row in each_row_of(source, table, truth_version_id=truth_id):
        same = rows_of(target, table, truth_version_id=there, name=row["name"])
        if not same:
            copy_row(target, table, row, known, truth_version_id=there)
            drop_slice_counts(target, there)
        elif (same[0]["levels"], same[0]["codes"]) != (row["levels"], row["codes"]):
            raise Conflict(
                f"slice column {row['name']!r} exists with other values.",
                field="slices",
                hint="Nothing was imported. Values of a slice belong to the samples; import it "
                "as a project of another name (--as).",
            )
