"""What a correction of labels did, in numbers."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class TruthRevision:
    """A version of the ground truth that corrects another one.

    `n_corrected` samples have another label than before, `n_newly_labelled` had none, and
    `n_unlabelled` have none any more. `n_runs` runs are scored again. `was_there` says that
    the same revision had been made before, and nothing was done.
    """

    dataset: str
    version: int
    parent: int
    reason: str
    n_corrected: int
    n_newly_labelled: int
    n_unlabelled: int
    n_labelled: int
    n_samples: int
    n_runs: int
    was_there: bool

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values."""
        return asdict(self)
