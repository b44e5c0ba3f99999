"""How many samples of each class a dataset has, and what the last correction changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from offdiag.domain.labels import LabelSet
from offdiag.store.truths import TruthSummary
from offdiag_web.charts.marks import share_bar
from offdiag_web.presenters import numbers
from offdiag_web.presenters.class_order import ClassHead, class_head
from offdiag_web.presenters.paging import Paging, paging
from offdiag_web.urls.datasets import DatasetAddress

CLASSES_PER_PAGE = 50


@dataclass(frozen=True, slots=True)
class ClassCount:
    """One class. `change` against the version before, None where there is none."""

    head: ClassHead
    count: str
    share: str
    bar: Markup
    change: str | None


@dataclass(frozen=True, slots=True)
class ClassCounts:
    """A page of the classes of a truth version, largest first."""

    number: int
    classes: tuple[ClassCount, ...]
    compared_with: int | None
    unlabelled: str | None
    paging: Paging


def class_counts(
    labels: LabelSet,
    versions: Sequence[TruthSummary],
    address: DatasetAddress,
    start: int,
) -> ClassCounts | None:
    """The classes of the newest version, None while a dataset has no ground truth."""
    if not versions:
        return None
    newest = versions[0]
    before = next((each for each in versions if each.number == newest.parent), None)
    codes = sorted(range(len(labels)), key=lambda code: -newest.class_counts[code])
    page = paging(
        len(codes),
        start,
        per_page=CLASSES_PER_PAGE,
        words=("class", "classes"),
        url=lambda at: address.url(start=at),
    )
    missing = newest.n_samples - newest.n_labelled
    return ClassCounts(
        number=newest.number,
        classes=tuple(
            _class_count(labels.names[code], code, newest, before)
            for code in codes[page.start : page.end]
        ),
        compared_with=None if before is None else before.number,
        unlabelled=numbers.plural(missing, "sample") if missing else None,
        paging=page,
    )


def _class_count(
    name: str, code: int, newest: TruthSummary, before: TruthSummary | None
) -> ClassCount:
    count, of = newest.class_counts[code], max(newest.n_labelled, 1)
    share = numbers.fine_percent(count, of)
    return ClassCount(
        head=class_head(name),
        count=numbers.count(count),
        share=share,
        bar=share_bar(count / of, name=f"{share} of the labelled samples"),
        change=None if before is None else numbers.signed(count - before.class_counts[code]),
    )
