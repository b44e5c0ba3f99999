"""Samples of a dataset that come again: found by their identifiers, and noted if they differ."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.look_alikes import near_misses, near_misses_in_words
from offdiag.errors import InvalidInput
from offdiag.inputs.ids import SampleIds, are_equal, common_places
from offdiag.inputs.labels import Codes
from offdiag.inputs.partial_labels import are_single_labels, differ, is_labelled
from offdiag.metrics.counted import are_sets
from offdiag.store import truths
from offdiag.store.database import Session
from offdiag.store.datasets import DatasetRecord
from offdiag.store.truths import TruthRecord


def note_on_other_labels(
    session: Session,
    dataset: DatasetRecord,
    newest: TruthRecord,
    *,
    made: TruthRecord,
    actual: Codes,
    ids: SampleIds | None,
    as_logged: Callable[[Codes], Codes],
    predicted: Callable[[], Codes],
) -> str | None:
    """A note if the version that was `made` differs from the newest one in a suspicious way.

    `actual` and `ids` are in canonical order, and `as_logged` brings labels from that order into
    that of the predictions.
    """
    before = f"label version {newest.number} of dataset {dataset.name!r}"
    kept = (
        f"It is kept as version {made.number}, and runs on different versions are not compared "
        "example by example."
    )
    n_classes = len(dataset.labels)
    is_of_one_size = newest.n_samples == made.n_samples
    is_alike = is_of_one_size and newest.class_counts == made.class_counts
    if (newest.id_kind == "position") != (ids is None):
        without_ids = (
            f"{before} has sample_ids, and this run has none, though it has as many examples of "
            f"each class. {kept} Give sample_ids= in all runs."
        )
        return without_ids if is_alike and ids is None else None
    if ids is None and not is_of_one_size:
        return None
    known = truths.truth_codes(session, newest.id)
    known_ids = truths.truth_ids(session, newest)
    if ids is not None and known_ids is not None and not are_equal(known_ids, ids):
        places, own_places = common_places([known_ids, ids])
        note = None
        if is_of_one_size:
            is_same = np.array_equal(known, actual) and _is_mixed(actual, n_classes)
            is_same &= len(places) == 0
            note = _named_otherwise(
                before, kept, known_ids, ids, is_alike=is_alike, is_same=is_same
            )
        if len(places) < _FEWEST_ALIKE:  # A few identifiers may stand for others by chance.
            places, own_places = places[:0], own_places[:0]
        shared = known[places], actual[own_places]
        return note or _contradicted(before, kept, *shared, n_classes, are_all=False)
    if np.array_equal(as_logged(known), predicted()):
        return (
            f"y_pred has the labels of {before}, and y_true has others: they seem to be swapped. "
            f"{kept} If so, delete this run and log it again."
        )
    if ids is not None or _are_nearly_equal(known, actual, n_classes):
        return _contradicted(before, kept, known, actual, n_classes)
    in_another_order = (
        f"y_true has as many examples of each class as {before}, in another order. {kept} Keep "
        "the order, or give sample_ids= in all runs."
    )
    return in_another_order if is_alike else None


def _contradicted(
    before: str, kept: str, known: Codes, actual: Codes, n_classes: int, *, are_all: bool = True
) -> str | None:
    """A note that labels of the same samples differ, which are all or some of each version."""
    if not are_all:
        labelled = is_labelled(known, n_classes) & is_labelled(actual, n_classes)
        known, actual = known[labelled], actual[labelled]
    n_differing = int(differ(known, actual, n_classes).sum())
    if n_differing == 0:
        return None
    which = f"its {len(known):,} samples" if are_all else f"the {len(known):,} samples in both"
    return (
        f"y_true has other labels than {before} for {n_differing:,} of {which}. {kept} Correct "
        "labels with revise_truth, which evaluates all runs again."
    )


_FEWEST_ALIKE = 20
_LONGEST_PATTERN = 12
_NEARLY_ALL = 0.9


def _are_nearly_equal(known: Codes, actual: Codes, n_classes: int) -> bool:
    """Whether the labels of n samples are those of n others but for a few, beyond chance.

    The measure is Cohen's kappa. Sets of labels are not compared.
    """
    if are_sets(known) or not _is_mixed(known, n_classes):
        return False
    shares = [np.bincount(each, minlength=n_classes + 1) / len(each) for each in (known, actual)]
    expected = float(shares[0] @ shares[1])
    return float((known == actual).mean()) - expected >= _NEARLY_ALL * (1 - expected)


def _is_mixed(codes: Codes, n_classes: int) -> bool:
    """Whether classes alternate, unlike those of files from a folder for each class.

    Other samples have the same labels only by chance then, if they are not very few. Labels that
    were made up by repeating a pattern do not count.
    """
    if are_sets(codes) or len(codes) < _FEWEST_ALIKE:
        return False
    if any((codes[at:] == codes[:-at]).all() for at in range(1, _LONGEST_PATTERN + 1)):
        return False
    return int(np.count_nonzero(codes[1:] != codes[:-1])) >= 2 * n_classes


_MOST_NAMES = 100_000
"""Most names among which those that are written differently are searched."""
_NAMES_TO_FIND = 100
"""So many have to be written differently if labels differ, too: a fold may have one such name."""


def _named_otherwise(
    before: str, kept: str, known: SampleIds, ids: SampleIds, *, is_alike: bool, is_same: bool
) -> str | None:
    """A note that samples seem to be earlier ones under other names.

    With equal class counts (`is_alike`), one such name is evidence enough, and with equal labels
    in the order of the names (`is_same`), none is needed.
    """
    n_known, n_wanted = (_MOST_NAMES, 1) if is_alike else (_MOST_NAMES // 10, _NAMES_TO_FIND)
    some = map(str, known.slice(0, n_known).to_list())
    wanted = [str(each) for each in ids.slice(0, n_wanted).to_list()]
    misses = near_misses(some, wanted)
    if len(misses) == len(wanted):
        return (
            f"sample_ids are written in another way than those of {before}, such as {misses[0]}. "
            f"{kept} Write them alike in all runs."
        )
    if not is_same:
        return None
    first, other = (each.slice(0, 1).to_list()[0] for each in (known, ids))
    return (
        f"sample_ids are others than those of {before}, which begin with {first!r} instead of "
        f"{other!r}, but y_true is the same in their order. {kept} If these are the same "
        "samples, write them alike in all runs."
    )


def notes_on_single_labels(
    dataset: DatasetRecord, actual: Codes, predicted: Callable[[], Codes]
) -> tuple[str, ...]:
    """A note on one-hot rows in the first run: they make the dataset multi-label for good."""
    n_labels = len(dataset.labels)
    if n_labels == 1 or not are_single_labels(actual, n_labels):
        return ()
    if not are_single_labels(predicted(), n_labels):
        return ()
    note = (
        "Each sample has exactly one label in y_true and in y_pred, but they came as sets of "
        f"labels, so dataset {dataset.name!r} is a multi-label one. If each sample has one class, "
        "log classes to a new dataset: one-hot rows become class numbers with .argmax(axis=1)."
    )
    return (note,)


def positions_in(known: SampleIds, ids: SampleIds, *, field: str) -> NDArray[np.int64]:
    """The positions of identifiers among the sorted ones of a truth.

    Raises `InvalidInput` naming one that is not among them, and how a known one is written.
    """
    import pyarrow.compute as pc

    if isinstance(known.values, np.ndarray) and isinstance(ids.values, np.ndarray):
        places = np.minimum(np.searchsorted(known.values, ids.values), len(known) - 1)
        found = known.values[places] == ids.values
    else:
        matches = pc.index_in(ids.as_text().values, value_set=known.as_text().values)
        places = pc.fill_null(matches, -1).to_numpy().astype(np.int64)
        found = places >= 0
    if not found.all():
        index = int(np.argmin(found))
        unknown = ids.slice(index, index + 1).to_list()[0]
        some = map(str, known.slice(0, _MOST_NAMES).to_list())
        written = near_misses_in_words(some, [str(unknown)])
        n_others = int((~found).sum()) - 1
        more = "is 1 other" if n_others == 1 else f"are {n_others:,} others"
        others = f", and neither {more}" if n_others else ""
        raise InvalidInput(
            f"{unknown!r} is not a sample of the dataset{others}.",
            field=field,
            hint="Check the identifier; new samples come with a run and its y_true="
            + (f". Near misses: {written}." if written else "."),
        )
    return places.astype(np.int64)
