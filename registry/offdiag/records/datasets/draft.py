"""Proposed labels: the draft of the next label version."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from offdiag.records.base import InProject, ResponseBody, Value

if TYPE_CHECKING:
    from offdiag.services.samples.drafts import LabelDraft
    from offdiag.store.database import Database

MOST_TASKS = 1_000


class DraftAnswer(ResponseBody):
    """The answer of one person; null if the label cannot be determined."""

    author: str
    label: str | None
    note: str | None
    is_final: bool = Field(description="Whether this answer decides a disagreement.")
    answered_at: datetime


class DraftSample(ResponseBody):
    """A sample with answers."""

    sample: int | str
    label: str | None = Field(description="The current label.")
    status: Annotated[
        Literal["one answer", "agreed", "disagree", "decided"],
        # Pydantic 2.7 accepts only plain text for a literal, no member of a `StrEnum`.
        BeforeValidator(str),
    ]
    outcome: str | None = Field(
        description="The label that follows from the answers; null: no label, or no answers shown."
    )
    answers: list[DraftAnswer] = Field(
        description="While one person has answered, they are shown to that person alone, since "
        "second opinions are independent."
    )


class DraftPair(ResponseBody):
    """How much two people agree on samples that both answered."""

    people: list[str]
    n: int
    n_same: int
    share: Value
    kappa: Value = Field(description="Cohen's kappa.")


class Draft(ResponseBody):
    """The answers that are not yet published as a label version."""

    project: str
    dataset: str
    version: int = Field(description="The label version to correct.")
    n_changes: int = Field(description="Labels that would change if everything were published.")
    people: list[str]
    agreement: list[DraftPair]
    samples: list[DraftSample]
    revision: str = Field(description="Another one after each change of the draft.")


class DraftQuery(InProject):
    """Whose draft is read."""

    author: str | None = Field(
        default=None, description="The person who reads; with sign-in always the user."
    )


class ProposedLabels(InProject):
    """Labels that a person proposes; null removes a label."""

    samples: list[int] | list[str] = Field(min_length=1, max_length=10_000)
    labels: list[str | None] = Field(min_length=1, description="One for each sample.")
    note: str | None = None
    author: str | None = None


class WithdrawnLabels(InProject):
    """Samples for which a person withdraws their answers."""

    samples: list[int] | list[str] = Field(min_length=1, max_length=10_000)
    author: str | None = None


class AnswersStored(ResponseBody):
    """The number of answers stored or withdrawn."""

    n_answers: int


class PublishedDraft(InProject):
    """Publish the samples whose answers agree."""

    reason: str
    opinions: Literal[1, 2] = Field(default=1, description="Number of people who must agree.")
    author: str | None = None


class UndoneVersion(InProject):
    """Revert the label changes of a version."""

    reason: str
    author: str | None = None


class TasksQuery(InProject):
    """The tasks to export for an annotation tool."""

    tool: Literal["label-studio", "argilla"] = "label-studio"
    limit: int = Field(default=200, ge=1, le=MOST_TASKS)


class LabelTasks(ResponseBody):
    """Tasks in the import format of the tool."""

    tasks: list[dict[str, Any]]


class AnsweredTasks(InProject):
    """An export of Label Studio or Argilla."""

    tasks: list[dict[str, Any]] = Field(min_length=1, max_length=10_000)
    author: str | None = Field(default=None, description="Who imports it.")


def asked_answers(
    database: Database, dataset: str, asked: ProposedLabels, author: str | None, *, is_final: bool
) -> AnswersStored:
    """Store the answers of a person, or decide with them."""
    from offdiag.inputs.content.given_samples import sample_names
    from offdiag.services.samples.drafts import answer_labels

    n = answer_labels(
        database,
        project=asked.project,
        dataset=dataset,
        labels=dict(zip(sample_names(asked.samples), asked.labels, strict=True)),
        author=author,
        note=asked.note,
        is_final=is_final,
    )
    return AnswersStored(n_answers=n)


def asked_withdrawal(
    database: Database, dataset: str, asked: WithdrawnLabels, author: str | None
) -> AnswersStored:
    """Withdraw the answers of a person."""
    from offdiag.services.samples.drafts import withdraw_answers

    n = withdraw_answers(
        database, project=asked.project, dataset=dataset, samples=asked.samples, author=author
    )
    return AnswersStored(n_answers=n)


def asked_import(
    database: Database, dataset: str, asked: AnsweredTasks, author: str | None
) -> AnswersStored:
    """Add the answers in an export of an annotation tool."""
    from offdiag.services.samples.tasks import import_answers

    n = import_answers(
        database, project=asked.project, dataset=dataset, records=asked.tasks, author=author
    )
    return AnswersStored(n_answers=n)


def draft_document(found: LabelDraft, reader: str | None) -> Draft:
    """The draft as a person sees it, without answers that they may not know yet."""
    return Draft.made_of(
        found,
        project=found.dataset.project,
        dataset=found.dataset.name,
        agreement=[DraftPair.made_of(pair.found, people=pair.people) for pair in found.pairs],
        samples=[
            item if item.is_open_to(reader) else replace(item, answers=(), outcome=None)
            for item in found.items
        ],
    )
