"""Which samples of a dataset a slice means."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from offdiag.domain.slices import Slice, SliceTerm
from offdiag.errors import InvalidInput
from offdiag.store import slices
from offdiag.store.session import Session
from offdiag.store.slices import SliceChoices
from offdiag.store.truths import TruthRecord


def members_of(session: Session, truth: TruthRecord, part: Slice) -> NDArray[np.bool_]:
    """Whether each sample of a truth is in a slice, shape (n_samples,).

    Raises `InvalidInput` for a column that the dataset does not have and for a value that no
    sample has: both are more likely misspelt than meant.
    """
    names = {term.name for term in part.terms}
    choices = slices.slice_choices(session, truth.root_id, names)
    return members_among(choices, part, n_samples=truth.n_samples)


def members_among(choices: SliceChoices, part: Slice, *, n_samples: int) -> NDArray[np.bool_]:
    """The same from slice columns that were read already. Raises `InvalidInput`."""
    members = np.ones(n_samples, dtype=np.bool_)
    for term in part.terms:
        members &= _members_by_term(choices, term)
    return members


def _members_by_term(choices: SliceChoices, term: SliceTerm) -> NDArray[np.bool_]:
    column = choices.columns.get(term.name)
    if column is None:
        known = ", ".join(choices.levels)
        raise InvalidInput(
            f"the dataset has no slice column {term.name!r}.",
            field="slice",
            hint=f"It has {known}." if known else "Log a run with slices= to give it one.",
        )
    if term.value not in column.levels:
        shown = ", ".join(repr(level) for level in column.levels[:10])
        more = ", …" if len(column.levels) > 10 else ""
        raise InvalidInput(
            f"no sample has {term.name} {term.value!r}.",
            field="slice",
            hint=f"Its values are {shown}{more}.",
        )
    return column.has(term.value)
