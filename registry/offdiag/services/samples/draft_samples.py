"""The samples that a label draft is about, found by their names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offdiag.errors import InvalidInput
from offdiag.inputs.ids import sample_ids
from offdiag.services.truth.revise import places_in_truth
from offdiag.services.truth.versions import version_of
from offdiag.store import label_answers, truths
from offdiag.store.database import Session
from offdiag.store.datasets import DatasetRecord, find_dataset
from offdiag.store.truths import TruthRecord


def draft_truth(session: Session, known: DatasetRecord) -> TruthRecord:
    """The label version to which a draft refers, or would refer. Raises `NotFound`.

    It is the newest one, but an open draft stays with its samples when runs on other samples are
    logged: with those for which a part of it was published, or else with those that were the
    newest when its oldest answer was given.
    """
    newest = version_of(session, known, None)
    oldest = label_answers.oldest_open(session, known.id)
    versions = [] if oldest is None else truths.truths_of(session, known.id)
    heads: dict[int, TruthRecord] = {}
    for version in versions:
        heads.setdefault(version.root_id, version)
    if oldest is None or len(heads) == 1:
        return newest
    published = label_answers.published_versions(session, known.id)
    parts = [
        each.root_id
        for each in versions
        if each.number in published and each.created_at >= oldest.answered_at
    ]
    # By time, because imported versions have higher numbers than those already there.
    by_time = sorted(versions, key=lambda each: each.created_at, reverse=True)
    then = [each.root_id for each in by_time if each.created_at <= oldest.answered_at]
    for root_id in dict.fromkeys([*parts, *then, *heads]):
        if known_among(session, heads[root_id], [oldest.sample]):
            return heads[root_id]
    return newest


def drafted_samples(session: Session, *, project: str, dataset: str) -> str | None:
    """The digest of the first labels of the samples that an open draft is about, if any."""
    known = find_dataset(session, project=project, name=dataset)
    if known is None or label_answers.oldest_open(session, known.id) is None:
        return None
    return truths.get_truth(session, draft_truth(session, known).root_id).digest


def known_among(session: Session, truth: TruthRecord, names: Sequence[str]) -> list[str]:
    """The names that belong to samples of a truth, in the same order."""
    import pyarrow as pa
    import pyarrow.compute as pc

    ids = truths.truth_ids(session, truth)
    if ids is None:
        return [name for name in names if _is_number(name) and 0 <= int(name) < truth.n_samples]
    found = pc.is_in(pa.array(names, pa.large_string()), value_set=ids.as_text().values)
    return [name for name, is_known in zip(names, found.to_pylist(), strict=True) if is_known]


def _is_number(name: str) -> bool:
    """Whether a name is a whole number as offdiag writes it, so that each sample has one name."""
    return name.removeprefix("-").isdecimal() and str(int(name)) == name


def places_named(session: Session, truth: TruthRecord, names: Sequence[str]) -> NDArray[np.int64]:
    """The places of samples in the truth. Raises `InvalidInput` for unknown ones."""
    if not names:
        return np.empty(0, np.int64)
    ids = truths.truth_ids(session, truth)
    return places_in_truth(sample_ids(identifiers(truth, names), field="labels"), ids, truth)


def identifiers(truth: TruthRecord, names: Sequence[str]) -> list[Any]:
    """Names as they were logged with runs: whole numbers, or text. Raises `InvalidInput`."""
    if truth.id_kind == "text":
        return list(names)
    for name in names:
        if not _is_number(name):
            raise InvalidInput(
                f"sample {name!r} is not named by a whole number.",
                field="labels",
                hint="Samples of this dataset have whole numbers, written as 7, not as 07.",
            )
    return [int(name) for name in names]
