"""The examples behind the churn of two runs: a table of both answers, and its twins."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from flask import request

from offdiag.comparison.pair import PairedOutcome
from offdiag.domain.runs import Task
from offdiag.services.examples.changed import (
    EXAMPLES_PER_PAGE,
    ChangedExample,
    ChangedExamples,
)
from offdiag.services.shared_samples import Refusal
from offdiag_web.app.exports import Cell
from offdiag_web.components import numbers
from offdiag_web.components.classes import ClassHead, class_head, quoted_name
from offdiag_web.components.controls import Paging, Segment, paging
from offdiag_web.components.samples.look import SHOW, SampleLook, SampleLooks, sample_looks
from offdiag_web.pages.compare.pair import PAIRED_OUTCOME_TEXTS
from offdiag_web.pages.compare.runs import RunIdentity, RunUrl, run_identities
from offdiag_web.urls.compare import CompareAddress
from offdiag_web.urls.datasets import DatasetAddress

EXAMPLE_COLUMNS = ("sample", "actual", "a", "b", "a_confidence", "b_confidence")


@dataclass(frozen=True, slots=True)
class ShownPrediction:
    """What a run said, whether that is right, and how sure it was."""

    label: ClassHead
    is_right: bool
    confidence: str | None


@dataclass(frozen=True, slots=True)
class ExampleLine:
    """One example."""

    sample: str
    actual: ClassHead
    first: ShownPrediction
    second: ShownPrediction
    look: SampleLook


@dataclass(frozen=True, slots=True)
class ExamplesView:
    """A page of examples with one outcome."""

    title: str
    heading: str
    about: str
    runs: tuple[RunIdentity, ...]
    paired_outcomes: tuple[Segment, ...]
    sample_head: str
    lines: tuple[ExampleLine, ...]
    has_scores: bool
    paging: Paging
    class_label: str | None
    all_classes_url: str
    back_url: str
    refusal: Refusal | None
    looks: SampleLooks
    is_shown: bool


def examples_view(
    found: ChangedExamples, address: CompareAddress, *, run_url: RunUrl
) -> ExamplesView:
    """Present a page of examples."""
    of_class = "" if found.class_label is None else f" of {quoted_name(found.class_label)}"
    words = PAIRED_OUTCOME_TEXTS[found.outcome]
    dataset = DatasetAddress(found.runs[0].project, found.runs[0].dataset)
    looks = sample_looks(dataset, (each.sample for each in found.examples))
    return ExamplesView(
        title=f"Examples{of_class}, {words}",
        heading=f"{numbers.plural(found.total, 'example')}{of_class}: {words}",
        about=_about(found),
        runs=run_identities(found.runs, address, run_url=run_url),
        paired_outcomes=tuple(
            Segment(
                _segment_text(found, outcome),
                address.examples_url(outcome, class_label=found.class_label),
                outcome is found.outcome,
            )
            for outcome in PairedOutcome
        ),
        sample_head="Example" if found.has_ids else "Position",
        lines=tuple(_line(each, found.outcome, looks) for each in found.examples),
        has_scores=any(run.score_columns for run in found.runs)
        and found.runs[0].task is not Task.MULTILABEL,
        paging=paging(
            found.total,
            found.start,
            per_page=EXAMPLES_PER_PAGE,
            words=("example", "examples"),
            url=lambda start: address.examples_url(
                found.outcome, class_label=found.class_label, start=start
            ),
        ),
        class_label=found.class_label,
        all_classes_url=address.examples_url(found.outcome),
        back_url=address.url(),
        refusal=found.refusal,
        looks=looks,
        is_shown=request.args.get(SHOW) == "shown",
    )


def example_rows(found: ChangedExamples) -> Iterator[tuple[Cell, ...]]:
    """One line for each example."""
    return map(_row, found.examples)


def _row(example: ChangedExample) -> tuple[Cell, ...]:
    return (
        *(example.sample, example.actual, example.first, example.second),
        *(example.first_confidence, example.second_confidence),
    )


def _about(found: ChangedExamples) -> str:
    """The dataset, and which part of its examples is meant."""
    parts = [found.runs[0].dataset]
    if found.part is not None:
        parts.append(f"slice {found.part}")
    if found.on_shared:
        parts.append("on the shared examples")
    return " · ".join(parts)


def _segment_text(found: ChangedExamples, outcome: PairedOutcome) -> str:
    if found.n_of_each is None:
        return PAIRED_OUTCOME_TEXTS[outcome]
    return f"{PAIRED_OUTCOME_TEXTS[outcome]} {numbers.count(found.n_of_each[outcome])}"


def _line(example: ChangedExample, outcome: PairedOutcome, looks: SampleLooks) -> ExampleLine:
    both = outcome is PairedOutcome.BOTH_RIGHT
    first, second = (
        both or outcome is PairedOutcome.ONLY_A,
        both or outcome is PairedOutcome.ONLY_B,
    )
    return ExampleLine(
        str(example.sample),
        class_head(example.actual),
        _answer(example.first, first, example.first_confidence),
        _answer(example.second, second, example.second_confidence),
        looks.of(example.sample),
    )


def _answer(label: str, is_right: bool, confidence: float | None) -> ShownPrediction:
    shown = None if confidence is None else numbers.metric(confidence)
    return ShownPrediction(class_head(label), is_right, shown)
