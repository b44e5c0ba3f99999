"""Evaluating scores in memory: no database, no server, nothing kept."""

from __future__ import annotations

from collections.abc import Iterable

from offdiag.domain.labels import BOOLEAN_PAIRS, LabelSet, label_text
from offdiag.domain.look_alikes import label_notes, warn_of
from offdiag.errors import InvalidInput
from offdiag.metrics.scores.forecasts import Forecasts
from offdiag.metrics.scores.suite import class_metrics, score_metrics
from offdiag.sdk.evaluation import ClassValues, MetricTable
from offdiag.sdk.score_evaluation import ScoreEvaluation


def evaluate_scores(
    *,
    y_true: object,
    y_score: object,
    labels: LabelSet | Iterable[object] | None = None,
    positive_label: object = None,
) -> ScoreEvaluation:
    """Every metric of scores beside the actual classes.

    `y_true` holds n labels (str, int or bool). `y_score` is (n,) for the positive class of
    two, or (n, K) with a column for each class: in label order, or called after the classes in
    a frame or a mapping {class: scores}. They are probabilities, or any finite scores, for which
    only the ranking metrics are defined. `labels` declares the classes and their order; without
    it they are the sorted labels found in `y_true`.

    `positive_label` names the positive class of two. It may be left out for labels 0 and 1, -1
    and 1, or False and True, where it is 1 or True by convention, as in scikit-learn, and where
    both classes have a column: then there is no positive class, nor the metrics that need one.

    Raises `InvalidInput` for empty or unequal arrays, values that are not finite, undeclared
    labels, columns that are not one for each class, and a positive class that is not named or
    not one of two.

    >>> evaluation = evaluate_scores(y_true=[0, 0, 1, 1], y_score=[0.1, 0.4, 0.35, 0.8])
    >>> evaluation.aggregate["roc_auc"].value
    0.75
    """
    from offdiag.inputs.ids import aligned
    from offdiag.inputs.labels import encode_labels, floats_among, label_column
    from offdiag.inputs.scores import require_column_of, score_table

    given = aligned(y_true=y_true, y_score=y_score)
    column = label_column(given["y_true"], field="y_true")
    known = _label_set(labels, column)
    actual = encode_labels(column, known, field="y_true")
    warn_of(label_notes(known.names, whole_floats=floats_among(y_true=column)))
    scores = score_table(given["y_score"], n_cases=len(actual), labels=known)
    positive = _positive_code(positive_label, known, n_columns=scores.shape[1])
    if positive is not None:
        require_column_of(given["y_score"], known, known.names[positive])
    forecasts = Forecasts(actual, scores, n_classes=len(known), positive=positive)
    per_class = class_metrics(forecasts)
    return ScoreEvaluation(
        forecasts,
        known,
        MetricTable(score_metrics(forecasts)),
        MetricTable({key: ClassValues(known, values) for key, values in per_class.items()}),
        positive_by_convention=positive_label is None and positive is not None,
    )


def _label_set(labels: LabelSet | Iterable[object] | None, y_true: object) -> LabelSet:
    if isinstance(labels, LabelSet):
        return labels
    if labels is not None:
        return LabelSet.declared(labels)
    from offdiag.inputs.labels import infer_labels

    found = infer_labels(("y_true", y_true))
    for pair in BOOLEAN_PAIRS:
        if set(pair).issuperset(found.names):
            return LabelSet.inferred_from(pair)
    return found


def _positive_code(positive_label: object, labels: LabelSet, *, n_columns: int) -> int | None:
    if positive_label is not None and len(labels) != 2:
        raise InvalidInput(
            f"{label_text(positive_label)!r} was named, but there are {len(labels)} classes "
            f"{labels.preview()}.",
            field="positive_label",
            hint="Leave it out: each class is evaluated against the rest.",
        )
    if n_columns != len(labels) and (n_columns != 1 or len(labels) != 2):
        raise InvalidInput(
            f"there are {n_columns} columns of scores for {len(labels)} classes "
            f"{labels.preview()}.",
            field="y_score",
            hint="Give one column for each class, and declare in labels= those that the "
            "data do not hold.",
        )
    if positive_label is None:
        positive_label = labels.conventional_positive
    if positive_label is not None:
        return labels.code_of(positive_label, field_name="positive_label")
    if n_columns < len(labels):
        raise InvalidInput(
            f"one score for each case is given, but not whether it is for "
            f"{labels.names[0]!r} or {labels.names[1]!r}.",
            field="positive_label",
            hint="Name the class whose score this is.",
        )
    return None
