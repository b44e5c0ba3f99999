"""Auditing published numbers: preparing the arguments of a user for the audit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sized
from typing import Any

from offdiag.audit.audit import audited
from offdiag.audit.findings import AuditReport
from offdiag.audit.reported_values import Facts, claims_from, labels_in, most_classes_listed
from offdiag.domain.column_names import by_label
from offdiag.domain.labels import LabelSet, label_text
from offdiag.domain.look_alikes import warn_of
from offdiag.domain.orientation import SourceOrientation
from offdiag.errors import InvalidInput
from offdiag.metrics.arguments import named_orientation, placed, refuse_totals, whole_counts
from offdiag.metrics.confusion import confusion_matrix, notes_on_matrix


def audit_reported(
    *,
    reported: Mapping[str, object],
    class_counts: object = None,
    matrix: Any = None,
    labels: LabelSet | Iterable[object] | None = None,
    positive_label: object = None,
) -> AuditReport:
    """Check whether published numbers can be correct, and under which interpretation.

    Returns an `AuditReport` with a verdict for each number and for the table: consistent,
    other_definition (which), transposed (why) or impossible. Each has the identity, bound or value
    that decides, and the range that rounding allows. For two classes of known size without a
    matrix, the report lists all matrices of whole numbers that fit.

    * `reported`: a mapping from metric names to numbers as printed. Text keeps its trailing zeros
      and may be a percentage ("57.3 %"); numbers have the decimals that Python shows; None or
      "undefined" means that the metric was reported as undefined. Names are the registry's keys
      and those in common use. A class metric takes a mapping from labels to numbers, or a sequence
      in label order; a single number belongs to the positive class, or is an average.
    * `class_counts`: the numbers of actual samples: a mapping from labels, or a sequence in label
      order. Here and in `reported`, a Series of pandas is read by its index.
    * `matrix`: a confusion matrix of counts as printed. The audit finds out which axis has the
      actual classes, if anything shows it. A DataFrame with two named axes is oriented by them,
      and its cells are placed by the labels of its axes.
    * `labels`: the classes in the order of the axes and sequences.
    * `positive_label`: the positive class of two. Default: both are tried.

    Raises `InvalidInput` for unknown metrics or labels, text that is not a number, and invalid
    counts or matrices.

    >>> report = audit_reported(
    ...     reported={"accuracy": "0.9567", "sensitivity": "0.8545", "specificity": "0.9734"},
    ...     class_counts={"ill": 100, "well": 200},
    ...     positive_label="ill",
    ... )
    >>> report.verdict.value
    'impossible'
    """
    turned = None
    if matrix is not None:
        turned = named_orientation(matrix)
        matrix, labels = placed(matrix, labels)
    class_counts = by_label(class_counts, field="class_counts")
    reported = {
        name: by_label(value, field=f"reported[{name!r}]") for name, value in reported.items()
    }
    names = _labels(reported, class_counts, matrix, labels)
    facts = Facts(
        labels=names,
        class_counts=None if class_counts is None else _class_counts(class_counts, names),
        positive=None if positive_label is None else _positive(positive_label, names),
    )
    printed = None
    if matrix is not None:
        # Turned only where its axes are named: what the rows are is what the audit finds out.
        as_printed = turned or SourceOrientation.ACTUAL_ROWS
        found = confusion_matrix(matrix, labels=names, orientation=as_printed)
        refuse_totals(found.counts, found.labels.names)
        warn_of(notes_on_matrix(matrix))
        printed = found.counts
    return audited(claims_from(reported, names), facts, printed)


def _labels(
    reported: Mapping[str, object],
    class_counts: object,
    matrix: Any,
    labels: LabelSet | Iterable[object] | None,
) -> LabelSet | None:
    """Declared labels, else those of the first argument that names or counts classes."""
    if labels is not None:
        return LabelSet.declared(labels)
    if isinstance(class_counts, Mapping):
        return LabelSet.declared(list(class_counts))
    named = labels_in(reported)
    if named:
        return LabelSet.declared(named)
    listed = most_classes_listed(reported)
    sizes = [_length(part) for part in (matrix, class_counts) if part is not None]
    size = sizes[0] if sizes else listed
    return LabelSet.numbered(size) if size else None


def _length(given: object) -> int:
    """Number of rows or counts; 0 for what has no length, which is refused when it is read."""
    return len(given) if isinstance(given, Sized) else 0


def _class_counts(given: object, labels: LabelSet | None) -> tuple[int, ...]:
    names = () if labels is None else labels.names
    given = by_label(given, labels, field="class_counts")
    if isinstance(given, Mapping):
        counted = {label_text(label, field_name="class_counts"): n for label, n in given.items()}
        if set(counted) != set(names):
            raise InvalidInput(
                f"it counts {sorted(counted)}, but the labels are {list(names)}.",
                field="class_counts",
                hint="Give one count for each label.",
            )
        given = [counted[name] for name in names]
    counts = whole_counts(given, field="class_counts")  # type: ignore[arg-type]  # Checked inside.
    if counts.ndim != 1 or len(counts) != len(names):
        raise InvalidInput(
            f"it has the shape {counts.shape} for {len(names)} classes.",
            field="class_counts",
            hint="Give one count for each class, in label order, or a mapping from labels.",
        )
    return tuple(counts.tolist())


def _positive(label: object, labels: LabelSet | None) -> int:
    if labels is None:
        raise InvalidInput(
            f"{label!r} was given, but no classes are known.",
            field="positive_label",
            hint="Give labels= or class_counts= as well.",
        )
    return labels.code_of(label, field_name="positive_label")
