"""Label drafts: labels that people propose for the next version, their agreement, publishing."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from typing import Any

from offdiag.domain.runs import Task, require_name
from offdiag.domain.texts import require_reason
from offdiag.errors import Conflict, InvalidInput, Stale
from offdiag.inputs.content.given_samples import sample_name, sample_names
from offdiag.inputs.partial_labels import differ
from offdiag.metrics.label_errors.agreement import Agreement, agreement
from offdiag.services.samples.draft_samples import (
    draft_truth,
    identifiers,
    known_among,
    places_named,
)
from offdiag.services.truth.revise import Revision, revise_truth
from offdiag.services.truth.versions import difference_between, version_of
from offdiag.store import label_answers, truths
from offdiag.store.audit_log import describe
from offdiag.store.database import Database, Session
from offdiag.store.dataset_page import DatasetSize, dataset_size
from offdiag.store.datasets import DatasetRecord, dataset_named
from offdiag.store.label_answers import LabelAnswer
from offdiag.store.truths import TruthRecord

MOST_AT_ONCE = 10_000


class DraftStatus(StrEnum):
    """The combined result of the answers on a sample."""

    ONE = "one answer"
    AGREED = "agreed"
    DISAGREE = "disagree"
    DECIDED = "decided"


@dataclass(frozen=True, slots=True)
class DraftItem:
    """A sample with answers. `label` is the present one, `outcome` that of the answers.

    Both are None for no label; a sample without an outcome has the status "disagree".
    """

    sample: int | str
    label: str | None
    answers: tuple[LabelAnswer, ...]
    status: DraftStatus
    outcome: str | None

    @property
    def n_people(self) -> int:
        return sum(not each.is_final for each in self.answers)

    @property
    def is_change(self) -> bool:
        """Whether publishing gives the sample another label."""
        return self.status is not DraftStatus.DISAGREE and self.outcome != self.label

    def is_open_to(self, person: str | None) -> bool:
        """Whether a person may see the answers.

        A second opinion is independent only if its author does not know the first.
        """
        return self.status is not DraftStatus.ONE or self.answers[0].author == person

    def is_ready(self, opinions: int) -> bool:
        """Whether there are enough equal answers, or a decision."""
        if self.status is DraftStatus.DECIDED:
            return True
        return self.status is not DraftStatus.DISAGREE and self.n_people >= opinions


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """How much two people agree on the samples that both have answered."""

    people: tuple[str, str]
    found: Agreement


@dataclass(frozen=True)
class LabelDraft:
    """The answers that are to become label version `version` + 1, oldest sample first."""

    dataset: DatasetRecord
    size: DatasetSize
    version: int
    items: tuple[DraftItem, ...]
    people: tuple[str, ...]
    pairs: tuple[PairAgreement, ...]

    @property
    def n_changes(self) -> int:
        """The number of samples that would get another label if everything were published now."""
        return sum(item.is_change for item in self.items)

    @property
    def revision(self) -> str:
        """A digest of all answers and of the label version to be corrected."""
        said = [(item.label, item.answers) for item in self.items]
        return hashlib.sha256(repr((self.version, said)).encode()).hexdigest()[:32]


def label_draft(database: Database, *, project: str, dataset: str) -> LabelDraft:
    """The draft of a dataset, empty without answers. Raises `NotFound`."""
    with database.read() as session:
        known, truth = _dataset(session, project, dataset)
        answers = label_answers.open_answers(session, known.id)
        return draft_of(session, known, truth, dataset_size(session, known.id), answers)


def draft_of(
    session: Session,
    known: DatasetRecord,
    truth: TruthRecord,
    size: DatasetSize,
    answers: Sequence[LabelAnswer],
) -> LabelDraft:
    """The draft made of the open answers on samples of this truth."""
    items = _items(session, known, truth, answers) if answers else ()
    people = tuple(sorted({each.author for each in answers if not each.is_final}))
    return LabelDraft(known, size, truth.number, items, people, _pairs(items, people))


def answer_labels(
    database: Database,
    *,
    project: str,
    dataset: str,
    labels: Mapping[Any, str | None],
    author: str | None,
    note: str | None = None,
    is_final: bool = False,
    version: int | None = None,
) -> int:
    """Store a person's answers on samples, replacing their earlier ones.

    None says that the label cannot be determined, so that the sample loses it. A final answer
    decides where people disagree. `version` is the label version that the person saw, in case it
    has other samples than the draft. Raises `NotFound`, `InvalidInput` for unknown samples and
    classes and without a name, and `Conflict` for a version with other samples.
    """
    who = require_person(author)
    why = require_reason(note, field="note") if note and note.strip() else None
    if not 1 <= len(labels) <= MOST_AT_ONCE:
        raise InvalidInput(
            f"there are {len(labels)} answers.",
            field="labels",
            hint=f"Send 1 to {MOST_AT_ONCE:,} at once.",
        )
    with database.write() as session:
        known, truth = _dataset(session, project, dataset, alone=True)
        if version is not None:
            _require_same_samples(truth, version_of(session, known, version))
        names = sample_names(labels)
        if len(known_among(session, truth, names)) < len(names):
            _require_same_samples(truth, version_of(session, known, None))
        places_named(session, truth, names)
        classes = known.labels.kept()
        # Two truth values have two names each: answers are compared by the name that is stored
        # here.
        said = [
            None
            if each is None
            else known.labels.names[classes.code_of(each, field_name="labels")]
            for each in labels.values()
        ]
        now = database.clock()
        given = zip(names, said, strict=True)
        label_answers.save_answers(
            session,
            known.id,
            [LabelAnswer(name, who, label, why, is_final, now) for name, label in given],
        )
        _require_same_draft(session, known, truth)
        action = "decide-labels" if is_final else "propose-labels"
        _describe(session, known, action, samples=names[:20], n=len(names), note=why)
    return len(names)


def withdraw_answers(
    database: Database, *, project: str, dataset: str, samples: Sequence[Any], author: str | None
) -> int:
    """Remove a person's answers on samples; returns how many there were.

    Raises `Conflict` if the remaining answers would refer to other samples.
    """
    who = require_person(author)
    names = [sample_name(each) for each in samples]
    with database.write() as session:
        known, truth = _dataset(session, project, dataset, alone=True)
        n = label_answers.remove_answers(session, known.id, names, author=who)
        _require_same_draft(session, known, truth)
        _describe(session, known, "withdraw-labels", samples=names[:20], n=n)
    return n


def publish_draft(
    database: Database,
    *,
    project: str,
    dataset: str,
    reason: str,
    author: str | None,
    opinions: int = 1,
    seen: str | None = None,
) -> Revision:
    """Make a label version from the samples on which answers agree; others stay in the draft.

    With `opinions` 2, a sample needs the same answer from two people, or a decision. `seen` is the
    revision of the draft that the author saw. Raises `Conflict` if no sample is ready or all keep
    their labels, and `Stale` if the draft has changed since it was seen.
    """
    draft = label_draft(database, project=project, dataset=dataset)
    if seen is not None and seen != draft.revision:
        raise Stale(
            "answers were given, changed or withdrawn since you saw the draft.",
            field="draft",
            hint="Look at them, then publish again. Nothing was changed.",
        )
    ready = [item for item in draft.items if item.is_ready(opinions)]
    changes = {item.sample: item.outcome for item in ready if item.is_change}
    if not changes:
        n = len(draft.items)
        raise Conflict(
            f"no label would change: of {n} answered samples, {len(ready)} are ready.",
            field="draft",
            hint="Samples need enough identical answers, or a decision.",
        )
    names = [str(item.sample) for item in ready]

    def close(session: Session, version: TruthRecord) -> None:
        now = label_answers.open_answers(session, draft.dataset.id)
        if {each for item in ready for each in item.answers} != {
            each for each in now if each.sample in set(names)
        }:
            raise Conflict(
                "answers were changed in the meantime.", field="draft", hint="Check them again."
            )
        label_answers.publish_answers(session, draft.dataset.id, names, version.number)
        people = sorted({each.author for item in ready for each in item.answers})
        _describe(
            session,
            draft.dataset,
            "publish-labels",
            version=version.number,
            people=people,
            n=len(changes),
            reason=reason,
        )

    return revise_truth(
        database,
        project=project,
        dataset=dataset,
        labels=changes,
        reason=reason,
        author=author,
        version=draft.version,
        also=close,
    )


def undo_version(
    database: Database,
    *,
    project: str,
    dataset: str,
    number: int,
    reason: str,
    author: str | None,
) -> Revision:
    """Restore the labels that a version changed, in a further version.

    Raises `Conflict` for a first version, and if a later one changed the same samples again.
    """
    with database.read() as session:
        known = dataset_named(session, project=project, name=dataset)
        version = version_of(session, known, number)
        if version.parent_id is None:
            raise Conflict(
                f"version {number} corrects no other one.",
                field="version",
                hint="Only corrections can be undone.",
            )
        before, after, now = (
            truths.truth_codes(session, truth_id)
            for truth_id in (version.parent_id, version.id, truths.head_of(session, version.id).id)
        )
        ids = truths.truth_ids(session, version)
        made = difference_between(before, after, labels=known.labels, ids=ids)
        again = differ(now[made.positions], after[made.positions], len(known.labels))
        changed_again = int(again.sum())
    if changed_again:
        raise Conflict(
            f"{changed_again:,} of {len(made):,} labels of version {number} were changed again.",
            field="version",
            hint="Undo the later version first, or correct these labels.",
        )
    return revise_truth(
        database,
        project=project,
        dataset=dataset,
        labels=made.labels_before(),
        reason=reason,
        author=author,
        version=number,
    )


def require_person(author: str | None) -> str:
    """The name under which answers are stored. Raises `InvalidInput` without one."""
    if author is None:
        raise InvalidInput(
            "it is not known who answers.",
            field="author",
            hint="Sign in, or give a name: two opinions need two people.",
        )
    return require_name(author, "author")


def _dataset(
    session: Session, project: str, dataset: str, *, alone: bool = False
) -> tuple[DatasetRecord, TruthRecord]:
    """A dataset and the version of its draft; with `alone`, locked against other changes."""
    known = dataset_named(session, project=project, name=dataset)
    if known.task is Task.MULTILABEL:
        raise Conflict(
            "samples with sets of labels have no drafts.",
            field="dataset",
            hint="Correct sets with offdiag.revise_truth.",
        )
    if alone:
        truths.lock_truths(session, known.id)
    return known, draft_truth(session, known)


def _require_same_draft(session: Session, known: DatasetRecord, truth: TruthRecord) -> None:
    """Raise `Conflict` if the remaining answers would refer to samples of another truth."""
    if label_answers.oldest_open(session, known.id) is None:
        return
    after = draft_truth(session, known)
    if after.root_id != truth.root_id:
        raise Conflict(
            f"without the oldest answer as it is, the draft would be about the samples of label "
            f"version {after.number}; it is about those of version {truth.number}.",
            field="labels",
            hint="Publish the draft, or withdraw the newest answers first.",
        )


def _require_same_samples(truth: TruthRecord, seen: TruthRecord) -> None:
    if seen.root_id != truth.root_id:
        raise Conflict(
            f"the draft is about the samples of label version {truth.number}, and version "
            f"{seen.number} has other ones.",
            field="version",
            hint="Publish or withdraw the draft first; older labels are corrected with "
            "`offdiag truth revise --version`.",
        )


def _describe(session: Session, dataset: DatasetRecord, action: str, **detail: object) -> None:
    subject = f"dataset {dataset.name}"
    describe(session, action=action, subject=subject, project=dataset.project, detail=detail)


def _items(
    session: Session, known: DatasetRecord, truth: TruthRecord, answers: Sequence[LabelAnswer]
) -> tuple[DraftItem, ...]:
    by_sample: dict[str, list[LabelAnswer]] = {}
    for each in answers:
        by_sample.setdefault(each.sample, []).append(each)
    names = known_among(session, truth, list(by_sample))
    codes = truths.truth_codes(session, truth.id)[places_named(session, truth, names)].tolist()
    classes = (*known.labels.names, None)
    return tuple(
        _item(sample, classes[code], tuple(by_sample[name]))
        for name, sample, code in zip(names, identifiers(truth, names), codes, strict=True)
    )


def _item(sample: int | str, label: str | None, answers: tuple[LabelAnswer, ...]) -> DraftItem:
    final = [each for each in answers if each.is_final]
    said = {each.label for each in answers if not each.is_final}
    if final:
        return DraftItem(sample, label, answers, DraftStatus.DECIDED, final[-1].label)
    if len(said) > 1:
        return DraftItem(sample, label, answers, DraftStatus.DISAGREE, None)
    status = DraftStatus.ONE if len(answers) == 1 else DraftStatus.AGREED
    return DraftItem(sample, label, answers, status, answers[0].label)


def _pairs(items: Sequence[DraftItem], people: Sequence[str]) -> tuple[PairAgreement, ...]:
    said: dict[str, dict[int | str, str | None]] = {person: {} for person in people}
    for item in items:
        for each in item.answers:
            if not each.is_final:
                said[each.author][item.sample] = each.label
    found = []
    for one, other in combinations(people, 2):
        shared = [sample for sample in said[one] if sample in said[other]]
        if shared:
            pair = agreement([said[one][s] for s in shared], [said[other][s] for s in shared])
            found.append(PairAgreement((one, other), pair))
    return tuple(found)
