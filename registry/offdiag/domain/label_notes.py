"""What is said about labels that are accepted, but may not be meant as they were read."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable

from offdiag.domain.look_alikes import look_alikes_in_words
from offdiag.errors import LabelNote


def label_notes(names: Iterable[str], *, whole_floats: Iterable[str] = ()) -> tuple[str, ...]:
    """Sentences on classes that look alike, and on arguments whose labels came as floats."""
    notes = [
        f"{field} holds floats that are whole numbers; they are read as integers, so 1.0 is the "
        "label '1'."
        for field in whole_floats
    ]
    alike = look_alikes_in_words(names)
    return (*notes, *(() if alike is None else (alike,)))


def warn_of(notes: Iterable[str]) -> None:
    """Warn whoever called this package of each note, as `LabelNote`."""
    for note in notes:
        warnings.warn(note, LabelNote, stacklevel=_level_of_caller())


def _level_of_caller() -> int:
    """How many frames above `warn_of` the first one outside of this package is."""
    frame = sys._getframe(1)  # noqa: SLF001 - what warnings themselves look at
    level = 1
    while frame.f_back is not None and _is_ours(frame.f_globals.get("__name__", "")):
        frame = frame.f_back
        level += 1
    return level


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] == "offdiag"
