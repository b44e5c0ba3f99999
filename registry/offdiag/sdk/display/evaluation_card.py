"""An evaluation as a notebook card: warning, coloured matrix, recall of each class."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape

import numpy as np

from offdiag.card import card, cell, column, head, mark, prose, row_name, says, table
from offdiag.domain.number_text import interval, number, percent
from offdiag.domain.texts import shortened
from offdiag.domain.values import MetricValue, undefined_note
from offdiag.metrics.confusion import ConfusionMatrix
from offdiag.metrics.counted import CountedSets, matrix_of
from offdiag.metrics.weighted.counts import WeightedCounts, WeightSums
from offdiag.palette import SMALLEST_ERROR_END, correct_step, error_step
from offdiag.sdk.display.displayed import (
    DisplayedEvaluation,
    DisplayedFlag,
    Origin,
    interval_name,
)
from offdiag.sdk.display.evaluation_text import (
    MOST_CLASSES,
    ClassLine,
    class_lines,
    cut_note,
    primary_titles,
    size_text,
)

MOST_ERRORS = 10
_LONGEST_HEAD = 12
_MOST_WITH_SHARES = 12
"""In larger matrices the colour alone says the share."""


def evaluation_card(evaluation: DisplayedEvaluation) -> str:
    """One HTML fragment. Names are escaped, and nothing is loaded from elsewhere."""
    lines = _ordered(evaluation)
    parts = [
        _evaluation_head(evaluation),
        warning_line(evaluation),
        metric_tiles(evaluation),
    ]
    columns, counted = [], evaluation.counted
    if isinstance(counted, CountedSets):
        columns += [_class_table(evaluation, lines), _fractions(counted)]
    else:
        cases: Cases = (
            counted.weights if isinstance(counted, WeightedCounts) else matrix_of(counted)
        )
        if len(evaluation.labels) <= MOST_CLASSES:
            columns += [_matrix_table(cases, lines), _class_table(evaluation, lines)]
        else:
            columns += [_class_table(evaluation, lines), _frequent_errors(cases)]
    return card(*parts, f'<div class="od-cols">{"".join(columns)}</div>')


def run_card(origin: Origin, state: str, evaluation: DisplayedEvaluation | None) -> str:
    """A run: its name, dataset and state, and if it is evaluated the warning and a few metrics."""
    if evaluation is None:
        about = f"{origin.labels_text} · {origin.run_id} · {state}"
        return card(head(origin.run_name, about, url=origin.url))
    facts = [origin.labels_text, origin.run_id, size_text(evaluation.counted)]
    about = " · ".join([*facts, *_level(evaluation)])
    title = head(origin.run_name, about, url=origin.url)
    return card(title, warning_line(evaluation), metric_tiles(evaluation))


def _evaluation_head(evaluation: DisplayedEvaluation) -> str:
    origin = evaluation.origin
    facts = [] if origin is None else [origin.run_name, origin.labels_text]
    facts.append(size_text(evaluation.counted))
    if evaluation.collapse is not None:
        facts.append(evaluation.collapse.words)
    facts += _level(evaluation)
    return head("Evaluation", " · ".join(facts), url=None if origin is None else origin.url)


def _level(evaluation: DisplayedEvaluation) -> list[str]:
    """What the intervals of the primary metrics are, if there are some."""
    shown = (evaluation.aggregate.get(key) for key in primary_titles(evaluation.counted))
    has_any = any(value is not None and value.ci_low is not None for value in shown)
    return [interval_name(evaluation.confidence)] if has_any else []


def warning_line(evaluation: DisplayedEvaluation) -> str:
    """The hidden-minority warning, or ""."""
    warning = evaluation.warning
    if warning is None:
        return ""
    rest = f"{warning.interval}." if warning.recall else ""
    strong = warning.strong if warning.recall else f"{warning.strong}."
    return says(
        strong,
        rest,
        mark="▲" if warning.is_proved else "◇",
        is_warning=True,
    )


def metric_tiles(evaluation: DisplayedEvaluation) -> str:
    """The primary metrics with their intervals."""
    tiles = [
        f"<div><span>{escape(title)}</span>{_tile(evaluation.aggregate[key])}</div>"
        for key, title in primary_titles(evaluation.counted).items()
        if key in evaluation.aggregate
    ]
    return f'<div class="od-tiles">{"".join(tiles)}</div>' if tiles else ""


def _tile(value: MetricValue) -> str:
    if value.value is None:
        return escape(value.undefined_text)
    return f"<b>{escape(number(value.value))}</b>{escape(_interval(value))}"


def _interval(value: MetricValue) -> str:
    if value.ci_low is None or value.ci_high is None:
        return value.why_no_interval or ""
    return interval(value.ci_low, value.ci_high, decimals=2)


def _ordered(evaluation: DisplayedEvaluation) -> list[ClassLine]:
    """Large classes first, unless their order has a meaning or only the worst are shown."""
    lines = class_lines(evaluation)
    if evaluation.counted.labels.ordinal or len(lines) < len(evaluation.labels):
        return lines
    return sorted(lines, key=lambda line: -line.n)


Cases = ConfusionMatrix | WeightSums
"""Numbers of examples, or sums of their weights."""


def _matrix_table(matrix: Cases, lines: Sequence[ClassLine]) -> str:
    codes = [matrix.labels.index[line.name] for line in lines]
    heads = "".join(_axis_name(line.name, "col") for line in lines)
    across = f'<th colspan="{len(lines) + 1}" class="od-axis od-l">Predicted →</th>'
    rows = "".join(_matrix_rows(matrix, codes, lines))
    return (
        f'<table class="od-m"><caption>Confusion matrix: {_UNITS[type(matrix)][0]}; colour: share '
        f"of the actual class</caption><thead><tr><th></th>{across}</tr>"
        f'<tr><th class="od-axis">Actual ↓</th>{heads}'
        f'<th scope="col">{_UNITS[type(matrix)][1]}</th></tr></thead>'
        f"<tbody>{rows}</tbody></table>"
    )


_UNITS = {ConfusionMatrix: ("counts", "n"), WeightSums: ("sums of weights", "weight")}


def _amount(cases: float) -> str:
    if isinstance(cases, int):
        return f"{cases:,}"
    return number(cases, decimals=2, decimals_from_100=2)


def _axis_name(name: str, scope: str) -> str:
    shown = shortened(name, longest=_LONGEST_HEAD)
    title = f' title="{escape(name)}"' if shown != name else ""
    return f'<th scope="{scope}"{title}>{escape(shown)}</th>'


def _matrix_rows(matrix: Cases, codes: Sequence[int], lines: Sequence[ClassLine]) -> Iterator[str]:
    actual = matrix.actual[:, np.newaxis]
    shares = np.divide(matrix.counts, actual, out=np.zeros(matrix.counts.shape), where=actual > 0)
    errors = shares.copy()
    np.fill_diagonal(errors, 0.0)
    end = max(float(errors.max()), SMALLEST_ERROR_END)
    for code, line in zip(codes, lines, strict=True):
        cells = [
            _cell(
                matrix.counts[code, other].item(),
                float(shares[code, other]),
                end,
                is_correct=code == other,
                with_share=len(codes) <= _MOST_WITH_SHARES,
            )
            for other in codes
        ]
        n = cell(_amount(matrix.actual[code].item()))
        yield f"<tr>{_axis_name(line.name, 'row')}{''.join(cells)}{n}</tr>"
    totals = "".join(cell(_amount(matrix.predicted[code].item())) for code in codes)
    total = _amount(matrix.counts.sum().item())
    unit = _UNITS[type(matrix)][1]
    yield f'<tr><th scope="row">Predicted {unit}</th>{totals}{cell(total)}</tr>'


def _cell(counted: float, share: float, end: float, *, is_correct: bool, with_share: bool) -> str:
    if not counted:
        return '<td class="od-z">0</td>'
    step = f"c{correct_step(share, 1.0)}" if is_correct else f"e{error_step(share, end)}"
    small = f"<small>{escape(percent(share))}</small>" if with_share else ""
    return f'<td class="od-{step}">{escape(_amount(counted))}{small}</td>'


def _class_table(evaluation: DisplayedEvaluation, lines: Sequence[ClassLine]) -> str:
    accuracy = evaluation.aggregate.get("overall_accuracy")
    baseline = None if accuracy is None else accuracy.value
    further = [key for key in ("precision", "f1") if all(key in line.values for line in lines)]
    columns = [column("Class", left=True), column("n"), column("Recall"), column("0 – 1")]
    columns += [column(interval_name(evaluation.confidence), left=True)]
    columns += [column(_TITLES[key]) for key in further]
    rows = [
        row_name(line.name)
        + cell(f"{line.n:,}")
        + _recall_cells(line.values.get("recall"), baseline)
        + "".join(cell(_plain(line.values[key])) for key in further)
        for line in lines
    ]
    note = [cut_note(evaluation, lines)]
    note += [] if baseline is None else [f"dashed: accuracy {number(baseline)}"]
    note += [undefined_note(line.values[key] for line in lines for key in further)]
    return table(columns, rows, caption=" · ".join(filter(None, note)))


_TITLES = {"precision": "Precision", "f1": "F1"}


def _plain(value: MetricValue) -> str:
    return "undefined" if value.value is None else number(value.value, decimals=2)


def _recall_cells(value: MetricValue | None, baseline: float | None) -> str:
    if value is None or value.value is None:
        said = "" if value is None else value.undefined_text
        return f'{cell("")}<td class="od-l" colspan="2">{escape(said)}</td>'
    ends = (value.ci_low, value.ci_high)
    is_below = baseline is not None and value.ci_high is not None and value.ci_high < baseline
    drawn = mark(value.value, ends, baseline=baseline, stands_out=is_below)
    return f"{cell(number(value.value))}<td>{drawn}</td>{cell(_interval(value), left=True)}"


def _frequent_errors(matrix: Cases) -> str:
    errors = matrix.counts.copy()
    np.fill_diagonal(errors, 0)
    n_classes = matrix.n_classes
    largest = np.argsort(errors, axis=None, kind="stable")[::-1][:MOST_ERRORS]
    names, rows = matrix.labels.names, []
    for place in largest.tolist():
        actual, predicted = divmod(place, n_classes)
        counted, n = errors[actual, predicted].item(), matrix.actual[actual].item()
        if counted:
            rows.append(
                row_name(names[actual])
                + row_name(names[predicted])
                .replace('<th scope="row"', "<td")
                .replace("</th>", "</td>")
                + cell(f"{_amount(counted)} of {_amount(n)}")
                + cell(percent(counted / n))
            )
    columns = [column("Actual", left=True), column("Predicted", left=True)]
    unit = "Examples" if isinstance(matrix, ConfusionMatrix) else "Weight"
    columns += [column(unit), column("Share")]
    return table(columns, rows, caption="Most frequent errors")


def _mass(mass: float) -> str:
    return f"<td>{escape(number(mass, decimals=2, decimals_from_100=2))}</td>"


def _fractions(counted: CountedSets) -> str:
    names = counted.labels.names
    if len(names) > MOST_CLASSES:
        return ""
    heads = "".join(_axis_name(name, "col") for name in names)
    rows = "".join(
        f"<tr>{_axis_name(name, 'row')}{''.join(map(_mass, row))}</tr>"
        for name, row in zip(names, counted.matrix.cells.tolist(), strict=True)
    )
    return (
        "<details><summary>Fractional multi-label matrix</summary><table><caption>"
        f"{counted.matrix.n_samples:,} examples, fractional shares, Algorithm 1</caption>"
        f'<thead><tr><th class="od-axis">Actual ↓ Predicted →</th>{heads}</tr></thead>'
        f"<tbody>{rows}</tbody></table></details>"
    )


def metric_card(title: str, metrics: Mapping[str, MetricValue], confidence: float = 0.95) -> str:
    """Values by key, for evaluations of scores, sets and weights in memory, and for costs.

    Without intervals there is no column for them.
    """
    said = {key: _said_of_interval(value) for key, value in metrics.items()}
    has_intervals = any(said.values())
    columns = [column("Metric", left=True), column("Value")]
    columns += [column(interval_name(confidence), left=True)] if has_intervals else []
    rows = [
        row_name(key) + _value_cells(value, said[key] if has_intervals else None)
        for key, value in metrics.items()
    ]
    return card(head(title), table(columns, rows))


def _said_of_interval(value: MetricValue) -> str:
    if value.ci_low is not None and value.ci_high is not None:
        return interval(value.ci_low, value.ci_high)
    return value.why_no_interval or ""


def _value_cells(value: MetricValue, said: str | None) -> str:
    if value.value is None:
        n_cells = 1 if said is None else 2
        return f'<td class="od-l" colspan="{n_cells}">{escape(value.undefined_text)}</td>'
    return cell(number(value.value)) + ("" if said is None else cell(said, left=True))


MOST_FLAGS = 40


def flags_card(flags: Sequence[DisplayedFlag]) -> str:
    """One HTML fragment: severity, rule, class and message, most severe first."""
    title = head("Flags", f"{len(flags)} raised" if flags else "none raised")
    if not flags:
        return card(title)
    rows = [
        cell(flag.severity, left=True)
        + cell(flag.rule, left=True)
        + prose(flag.message)
        + cell(flag.state, left=True)
        for flag in flags[:MOST_FLAGS]
    ]
    hidden = len(flags) - len(rows)
    columns = [column(name, left=True) for name in ("Severity", "Rule", "Message", "State")]
    return card(
        title, table(columns, rows, caption=f"{hidden} more not shown" if hidden > 0 else "")
    )
