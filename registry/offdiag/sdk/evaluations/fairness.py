"""Fairness of a run as a frame."""

from __future__ import annotations

from typing import TYPE_CHECKING

from offdiag.extras import optional
from offdiag.records.runs.slices import FAIRNESS_COLUMNS, Fairness, fairness_rows

if TYPE_CHECKING:
    import pandas as pd


def fairness_frame(found: Fairness) -> pd.DataFrame:
    """One row for each class and criterion, as `Run.fairness` says."""
    with optional:
        import pandas as pd

    frame = pd.DataFrame(list(fairness_rows(found)), columns=pd.Index(FAIRNESS_COLUMNS))
    frame = frame.set_index(["class", "criterion"])
    document = found.plain()
    frame.attrs |= {
        "groups": document["groups"],
        "rates": {
            each["class_label"]: {
                key: {name: value["value"] for name, value in by_group.items()}
                for key, by_group in each["rates"].items()
            }
            for each in document["classes"]
        },
        "conflicts": {
            each["class_label"]: each["conflict"]
            for each in document["classes"]
            if each["conflict"]
        },
        "too_small": document["too_small"],
        "n_suppressed": document["n_suppressed"],
    }
    return frame
