"""What is recorded with a run as lines of its page: facts, digests, lineage, orientation."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from offdiag.domain.look_alikes import look_alikes_in_words
from offdiag.domain.orientation import OrientationVerdict, SourceOrientation
from offdiag.domain.runs import (
    COMMIT,
    Derivation,
    decision_text,
    logged_by,
)
from offdiag.store.run_page import RunDetail, RunHeader
from offdiag_web.components import numbers
from offdiag_web.components.classes import quoted_name
from offdiag_web.components.controls import (
    class_words,
    moment,
    orientation_chip,
    spell_short,
)
from offdiag_web.urls.run import run_url

MOST_MARGINS = 50
"""Most classes that are listed with their totals."""

_SOURCES = {
    SourceOrientation.PREDICTIONS: "pairs of labels; the matrix was counted here",
    SourceOrientation.ACTUAL_ROWS: "a matrix with actual classes in rows",
    SourceOrientation.ACTUAL_COLUMNS: "a matrix with actual classes in columns",
}
_COUNTED_ELSEWHERE = "columns of a data frame, whose own engine counted the matrix"
_VERDICTS = {
    OrientationVerdict.CANONICAL: (
        "Verified: the actual totals match the class counts of the dataset, the predicted totals "
        "do not."
    ),
    OrientationVerdict.TRANSPOSED: (
        "Looks transposed: the predicted totals match the class counts of the dataset, the actual "
        "totals do not."
    ),
    OrientationVerdict.AMBIGUOUS: (
        "Cannot be verified: both totals match the class counts of the dataset, so both readings "
        "are possible."
    ),
    OrientationVerdict.INCONSISTENT: (
        "Does not match: neither the actual nor the predicted totals match the class counts of "
        "the dataset."
    ),
    OrientationVerdict.UNVERIFIED: (
        "Not verified: the dataset has no class counts to compare with."
    ),
}


@dataclass(frozen=True, slots=True)
class Fact:
    """A named fact; a digest is shown in a fixed-width font, a time with its relative form."""

    name: str
    text: str
    is_code: bool = False
    when: datetime | None = None


@dataclass(frozen=True, slots=True)
class Margin:
    """The three counts of one class that were compared, and whether they agree."""

    label: str
    dataset: str
    actual: str
    predicted: str
    actual_agrees: bool | None
    predicted_agrees: bool | None


_RULES = {
    "least_expected_cost": "For each example, the prediction with the lowest expected cost.",
    "threshold": "The positive class if its score is at least the threshold.",
}


def lineage_of(derivation: Derivation) -> dict[str, object]:
    """The source run and the decision rule of a derived run."""
    recipe = dict(derivation.recipe)
    rule = str(recipe.pop("rule", "unknown"))
    return {
        "source": derivation.run_id,
        "source_url": run_url(derivation.run_id),
        "rule": _RULES.get(rule, rule),
        "facts": tuple(
            Fact(name, text if isinstance(text, str) else json.dumps(text, ensure_ascii=False))
            for name, text in recipe.items()
        ),
    }


def facts_of(detail: RunDetail, now: datetime) -> list[Fact]:
    """What the run is, and when and with what it was logged and evaluated."""
    run, results = detail.run, detail.results
    facts = [
        Fact("Run", run.id, is_code=True),
        Fact("Project", run.project),
        Fact("Dataset", run.dataset + (f", labels v{run.truth.number}" if run.truth else "")),
        Fact("Model", run.model or "not given"),
        Fact("Predictions", _predictions_text(run)),
        Fact(
            "Scores",
            numbers.plural(run.score_columns, "column") if run.score_columns else "none logged",
        ),
        *([] if run.decision is None else [Fact("Predicted", decision_text(run.decision))]),
        *_positive_class(run),
        *(
            Fact(name.capitalize(), text or "not given", is_code=name == COMMIT and bool(text))
            for name, text in logged_by(run).items()
        ),
        _moment_fact("Logged", run.created_at, now),
        _moment_fact("Finished", run.finished_at, now),
    ]
    if results is not None:
        facts += [
            _moment_fact("Evaluated", results.facts.computed_at, now),
            Fact("Evaluation took", spell_short(results.facts.duration_s)),
            Fact("Metric suite", f"version {results.facts.suite_version}"),
            Fact("Engine", results.facts.engine_version),
        ]
    return facts


def _predictions_text(run: RunHeader) -> str:
    n = numbers.count(run.n_predictions)
    return n if run.counted_on is None else f"{n}, counted by {run.counted_on} and not stored"


def _positive_class(run: RunHeader) -> list[Fact]:
    if run.positive_label is None:
        return []
    how = ", by convention" if run.positive_by_convention else ", named for the dataset"
    return [Fact("Positive class", f"{quoted_name(run.positive_label)}{how}")]


def _moment_fact(name: str, when: datetime | None, now: datetime) -> Fact:
    if when is None:
        return Fact(name, "not yet")
    return Fact(name, moment(when, now=now).full, when=when)


def digests_of(detail: RunDetail) -> list[Fact]:
    """The digests that identify the inputs of the results."""
    run, results = detail.run, detail.results
    known = [
        ("Content as logged", run.content_digest),
        ("Ground truth", run.truth.digest if run.truth else None),
        ("Labels", run.labels.digest),
        ("Matrix", results.facts.matrix_digest if results else None),
        ("Inputs of the evaluation", results.facts.input_digest if results else None),
    ]
    return [Fact(name, digest, is_code=True) for name, digest in known if digest]


def entries(values: Mapping[str, Any]) -> tuple[Fact, ...]:
    """Parameters or tags by name; values other than texts are written as JSON."""
    return tuple(
        Fact(key, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
        for key, value in sorted(values.items())
    )


def labels_note(detail: RunDetail) -> str:
    """How many classes the run has, where they come from, and which look alike."""
    labels = detail.run.labels
    order = "in a meaningful order" if labels.ordinal else "in this order"
    known = "inferred from the data, sorted" if labels.inferred else f"declared {order}"
    shown = min(len(labels), MOST_MARGINS)
    part = "" if shown == len(labels) else f"; the first {shown} are shown"
    alike = look_alikes_in_words(labels)
    note = "" if alike is None else f" {alike}"
    words = class_words(detail.run.task)
    return f"{numbers.plural(len(labels), words.one, words.many)}, {known}{part}.{note}"


def orientation_of(detail: RunDetail) -> dict[str, object]:
    """How the orientation of the matrix was stated and verified."""
    run = detail.run
    margins = _margins(run.labels.names, run.orientation_evidence or {})
    return {
        "logged_as": _SOURCES[run.source] if run.counted_on is None else _COUNTED_ELSEWHERE,
        "stored_as": "actual classes in rows, predicted classes in columns",
        "verdict": _verdict_text(run),
        "chip": orientation_chip(run.source, run.orientation_verdict, counted_on=run.counted_on),
        "margins": margins[:MOST_MARGINS],
        "n_left_out": max(len(margins) - MOST_MARGINS, 0),
    }


def _verdict_text(run: RunHeader) -> str:
    verdict = run.orientation_verdict
    is_sure = run.counted_on is not None and verdict == OrientationVerdict.CANONICAL
    if run.source is SourceOrientation.PREDICTIONS or is_sure:
        return "Nothing to verify: the matrix was counted from actual and predicted classes."
    if verdict is None:
        return "Not verified yet: the run is still open."
    return _VERDICTS[OrientationVerdict(verdict)]


def _margins(names: Sequence[str], evidence: Mapping[str, Any]) -> tuple[Margin, ...]:
    """The compared totals by class; those that disagree come first."""
    actual, predicted = evidence.get("actual_margin"), evidence.get("predicted_margin")
    if actual is None or predicted is None:
        return ()
    known = evidence.get("class_counts") or [None] * len(names)
    margins = [
        Margin(
            label=name,
            dataset="unknown" if count is None else numbers.count(count),
            actual=numbers.count(as_actual),
            predicted=numbers.count(as_predicted),
            actual_agrees=None if count is None else as_actual == count,
            predicted_agrees=None if count is None else as_predicted == count,
        )
        for name, count, as_actual, as_predicted in zip(
            names, known, actual, predicted, strict=True
        )
    ]
    return tuple(sorted(margins, key=lambda margin: margin.actual_agrees is not False))
