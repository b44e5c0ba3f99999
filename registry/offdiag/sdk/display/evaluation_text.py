"""Evaluations as text: one line, and a page like a classification report with intervals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap

from offdiag.domain.number_text import count, number
from offdiag.domain.texts import shortened
from offdiag.domain.values import MetricValue, undefined_note, worst_first
from offdiag.flags.lifecycle import FlagState
from offdiag.metrics.counted import Counted, CountedSets, numbers_of
from offdiag.metrics.intervals.proportions import wilson
from offdiag.metrics.weighted.counts import WeightedCounts
from offdiag.sdk.display.displayed import (
    WIDTH,
    DisplayedEvaluation,
    DisplayedFlag,
    aligned,
    interval_name,
)

MOST_CLASSES = 20
WORST_CLASSES = 12
"""Of more than `MOST_CLASSES` classes these many are shown, lowest recall first."""

PRIMARY = {
    "overall_accuracy": "Accuracy",
    "balanced_accuracy": "Balanced accuracy",
    "macro_f1": "Macro F1",
    "mcc": "MCC",
}
PRIMARY_OF_SETS = {
    "subset_accuracy": "Subset accuracy",
    "macro_f1": "Macro F1",
    "micro_f1": "Micro F1",
    "hamming_loss": "Hamming loss",
}
OF_CLASS = {"recall": "Recall", "precision": "Precision", "f1": "F1"}


@dataclass(frozen=True, slots=True)
class ClassLine:
    """A class, its number of examples, and its values by metric with intervals."""

    name: str
    n: int
    values: Mapping[str, MetricValue]


def evaluation_line(evaluation: DisplayedEvaluation) -> str:
    """ "Evaluation of effnet-b3, derm-7 v3, accuracy 0.828, df missed (1 of 17)"."""
    origin = evaluation.origin
    about = (
        f"{count(evaluation.counted.total, 'example')}, {_n_classes(evaluation)}"
        if origin is None
        else f"{shortened(origin.run_name, longest=40)}, {origin.labels_text}"
    )
    return f"Evaluation of {about}{facts_text(evaluation)}"


def facts_text(evaluation: DisplayedEvaluation) -> str:
    """ ", accuracy 0.828, df missed (1 of 17)": the first primary metric and the warning."""
    key, title = next(iter(primary_titles(evaluation.counted).items()))
    value = evaluation.aggregate.get(key)
    said = "" if value is None else f", {title.lower()} {_plain(value)}"
    warning = evaluation.warning
    return said if warning is None else f"{said}, {warning.short}"


def primary_titles(counted: Counted) -> Mapping[str, str]:
    """The metrics of all classes that are shown first, by key."""
    return PRIMARY_OF_SETS if isinstance(counted, CountedSets) else PRIMARY


def class_lines(evaluation: DisplayedEvaluation) -> list[ClassLine]:
    """The classes to show: all, or if there are over 20 those with the lowest recall.

    Recall and precision without a stored interval get Wilson's, from their counts.
    """
    counted, per_class = numbers_of(evaluation.counted), evaluation.per_class
    sizes = {"recall": counted.actual, "precision": counted.predicted}
    bounds = {key: wilson(counted.correct, size) for key, size in sizes.items()}
    columns = {key: list(per_class[key].values()) for key in OF_CLASS if key in per_class}
    if isinstance(evaluation.counted, WeightedCounts):
        bounds = {}
    for key, found in bounds.items():
        columns[key] = [
            _bounded(value, float(found.low[code]), float(found.high[code]))
            for code, value in enumerate(columns.get(key, ()))
        ]
    lines = [
        ClassLine(name, int(counted.actual[code]), {k: v[code] for k, v in columns.items() if v})
        for code, name in enumerate(evaluation.labels)
    ]
    if len(lines) <= MOST_CLASSES:
        return lines
    known = [
        line for line in lines if "recall" in line.values and line.values["recall"].is_defined
    ]
    recalls = [line.values["recall"] for line in known]
    order = worst_first(recalls, [line.n for line in known])
    return [known[at] for at in order[:WORST_CLASSES]]


def _bounded(value: MetricValue, low: float, high: float) -> MetricValue:
    if value.value is None or value.ci_method is not None:
        return value
    return MetricValue(value.value, ci_low=low, ci_high=high, ci_method="wilson")


def cut_note(evaluation: DisplayedEvaluation, lines: Sequence[ClassLine]) -> str:
    """A note if not all classes are shown, else ""."""
    n_classes = len(evaluation.labels)
    if len(lines) == n_classes:
        return ""
    return f"{len(lines)} of {n_classes} classes, lowest recall first"


def size_text(counted: Counted) -> str:
    """ "1,503 examples", for weighted ones also their effective sample size."""
    examples = count(counted.total, "example")
    if not isinstance(counted, WeightedCounts):
        return examples
    return f"{examples}, weighted, effective sample size {counted.n_effective:,.0f}"


def evaluation_text(evaluation: DisplayedEvaluation) -> str:
    """The page that `Evaluation.summary` returns."""
    lines = class_lines(evaluation)
    origin = evaluation.origin
    title = "" if origin is None else f"{origin.run_name}, {origin.labels_text}: "
    about = f"{size_text(evaluation.counted)}, {_n_classes(evaluation)}"
    if evaluation.collapse is not None:
        about += f", {evaluation.collapse.words}"
    parts = [*wrap(f"{title}{about}", WIDTH)]
    if evaluation.warning is not None:
        mark = "!" if evaluation.warning.is_proved else "?"
        parts += wrap(f"{mark} {evaluation.warning.sentence}", WIDTH, subsequent_indent="  ")
    parts += ["", *_primary(evaluation), "", *_class_table(lines)]
    parts += wrap(undefined_note(value for line in lines for value in line.values.values()), WIDTH)
    parts += _brackets(
        [
            *(value for line in lines for value in line.values.values()),
            *(evaluation.aggregate.get(key) for key in primary_titles(evaluation.counted)),
        ],
        evaluation.confidence,
    )
    if note := cut_note(evaluation, lines):
        parts += [f"{note}; to_frame() has all"]
    flags = flag_lines(evaluation.flags, at_most=6)
    if flags:
        parts += ["", "Flags", *flags]
    return "\n".join(parts)


def _brackets(values: Iterable[MetricValue | None], confidence: float) -> list[str]:
    """What the numbers in brackets are, if any value has some."""
    has_any = any(value is not None and value.ci_low is not None for value in values)
    return [f"Brackets: {interval_name(confidence)}."] if has_any else []


def flag_lines(flags: Sequence[DisplayedFlag], *, at_most: int = 12) -> list[str]:
    """Flags by severity, one or two lines each; those beyond `at_most` are only counted."""
    found: list[str] = []
    for flag in flags[:at_most]:
        state = "" if flag.state == FlagState.OPEN else f" ({flag.state})"
        start = f"{flag.severity:<9}{flag.rule:<5}"
        text = f"{flag.message}{state}"
        found += wrap(text, WIDTH, initial_indent=start, subsequent_indent=" " * len(start))
    n_more = len(flags) - at_most
    return [*found, f"... and {n_more} more"] if n_more > 0 else found


def _n_classes(evaluation: DisplayedEvaluation) -> str:
    if isinstance(evaluation.counted, CountedSets):
        return count(len(evaluation.labels), "label")
    return count(len(evaluation.labels), "class", "classes")


def _primary(evaluation: DisplayedEvaluation) -> list[str]:
    titles = primary_titles(evaluation.counted)
    rows = [
        (title, evaluation.aggregate[key])
        for key, title in titles.items()
        if key in evaluation.aggregate
    ]
    width = max((len(title) for title, _ in rows), default=0)
    return [f"{title:<{width}}  {value}" for title, value in rows]


def _class_table(lines: Sequence[ClassLine]) -> list[str]:
    keys = [key for key in OF_CLASS if all(key in line.values for line in lines)]
    rows = [
        [line.name, f"{line.n:,}", *(_cell(line.values[key]) for key in keys)] for line in lines
    ]
    return aligned(["class", "n", *(OF_CLASS[key].lower() for key in keys)], rows, right={1})


def _cell(value: MetricValue) -> str:
    """ "0.059 (0.01–0.27)": three decimals, but two for the ends, to fit three in a line."""
    if value.ci_low is None or value.ci_high is None:
        return _plain(value)
    ends = (number(end, decimals=2) for end in (value.ci_low, value.ci_high))
    return f"{_plain(value)} ({'–'.join(ends)})"


def _plain(value: MetricValue) -> str:
    return "undefined" if value.value is None else number(value.value)


def table_line(kind: str, about: str, aggregate: Mapping[str, MetricValue]) -> str:
    """ "ScoreEvaluation of 40 examples, 7 classes, ROC AUC 0.931": the first that is defined."""
    for key, title in _IN_ONE_LINE.items():
        if key in aggregate and aggregate[key].is_defined:
            return f"{kind} of {about}, {title} {_plain(aggregate[key])}"
    return f"{kind} of {about}"


_IN_ONE_LINE = {
    "subset_accuracy": "subset accuracy",
    "overall_accuracy": "accuracy",
    "roc_auc": "ROC AUC",
    "roc_auc_ovr_macro": "ROC AUC (macro, one-vs-rest)",
}
_OF_SCORES = {
    "roc_auc": "ROC AUC",
    "roc_auc_ovr_macro": "ROC AUC (macro)",
    "average_precision": "Average precision",
    "log_loss": "Log loss",
    "brier_half": "Brier score (half)",
    "brier_sum": "Brier score (sum)",
    "ece_top_label_15": "ECE (top label)",
}


def table_text(
    line: str,
    aggregate: Mapping[str, MetricValue],
    per_class: Mapping[str, Mapping[str, MetricValue]],
    confidence: float,
) -> str:
    """A page of text for an evaluation without flags: a few metrics, and those of classes."""
    titles = PRIMARY_OF_SETS if "subset_accuracy" in aggregate else PRIMARY | _OF_SCORES
    shown = [[title, str(aggregate[key])] for key, title in titles.items() if key in aggregate]
    keys = [key for key in (*OF_CLASS, *_OF_SCORES) if key in per_class][:3]
    names = list(per_class[keys[0]]) if keys else []
    rows = [
        [name, *(_cell(per_class[key][name]) for key in keys)] for name in names[:MOST_CLASSES]
    ]
    n_more = len(names) - len(rows)
    return "\n".join(
        [
            line,
            "",
            *aligned(["metric", "value"], shown),
            *(["", *aligned(["class", *keys], rows)] if rows else []),
            *([f"... and {n_more} more classes"] if n_more > 0 else []),
            *wrap(undefined_note(per_class[key][row[0]] for row in rows for key in keys), WIDTH),
            *_brackets(
                [
                    *(aggregate[key] for key in titles if key in aggregate),
                    *(per_class[key][row[0]] for row in rows for key in keys),
                ],
                confidence,
            ),
        ]
    )
