"""One entry of the manual."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Entry:
    """What the help of a command adds to what its options say.

    `examples` are command lines without the leading `offdiag`, `see` are paths of other
    commands. `arguments` says what a positional argument is, by its name in the code; those in
    `ARGUMENTS` need no mention. `no` is what exit code 1 means, for commands that have it.
    `no_json` says why a command has no --json, `note` what else there is to know.
    """

    examples: tuple[str, ...]
    see: tuple[str, ...] = ()
    arguments: Mapping[str, str] = field(default_factory=dict)
    no: str | None = None
    no_json: str | None = None
    note: str | None = None


ARGUMENTS = {
    "run_id": "Id of the run, such as r_4bcd6fgh8jkm.",
    "run_ids": "Ids of runs.",
    "dataset": "Name of the dataset.",
    "flag_id": "Number of the flag: 31 or F-31.",
    "ids": "Numbers of flags: 31 or F-31.",
}
"""Arguments that mean the same wherever they occur."""
