"""Confused labels of a multi-label run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from offdiag.metrics.multilabel_runs.confused import Confusion
from offdiag.records.base import RequestBody, ResponseBody

if TYPE_CHECKING:
    from offdiag.metrics.multilabel_runs.confused import ConfusedLabel
    from offdiag.services.multilabel.confused_labels import ConfusedLabels

METHOD = (
    "One-sided exact tests of Fisher on the examples. A quarter of the error rate each for labels "
    "that are missed, added and replaced, with Holm over all pairs of labels, and for third "
    "labels of the replacements that were found."
)


class ConfusedQuery(RequestBody):
    """How sure every sentence has to be."""

    confidence: float = Field(default=0.95, gt=0, lt=1)


class ConfusionEvidence(ResponseBody):
    """Errors among examples with a property and among the others."""

    errors_with: int
    n_with: int
    errors_without: int
    n_without: int
    p: float
    p_adjusted: float = Field(description="Over all sentences of the kind.")


class ConfusedLabelFound(ResponseBody):
    """A significant sentence, with the numbers behind it."""

    sentence: str = Field(examples=["sea is predicted as sky when sand is present"])
    evidence_text: str
    kind: Confusion
    label: str
    other: str = Field(description="Predicted in place of the label, or present with it.")
    when: str | None = Field(description="A third label that makes a replacement more frequent.")
    evidence: ConfusionEvidence
    evidence_when: ConfusionEvidence | None


class ConfusedLabelsFound(ResponseBody):
    """Every significant sentence about a multi-label run; often there is none."""

    run: str
    n: int = Field(description="Labelled examples.")
    n_labels: int
    confidence: float
    found: list[ConfusedLabelFound]
    method: str


def confused_document(found: ConfusedLabels) -> ConfusedLabelsFound:
    """The sentences of a run."""
    return ConfusedLabelsFound.made_of(
        found, run=found.run_id, found=list(map(_sentence, found.found)), method=METHOD
    )


def _sentence(found: ConfusedLabel) -> ConfusedLabelFound:
    from offdiag.reports.confused_texts import evidence_text, sentence

    return ConfusedLabelFound.made_of(
        found, sentence=sentence(found), evidence_text=evidence_text(found)
    )
