"""The evaluations of a run as a table and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from offdiag.cli.run_json import time_text
from offdiag.cli.run_tables import coverage
from offdiag.cli.tables import open_table
from offdiag.cli.text import number, printable
from offdiag.services.evaluation.history import ALL_KEYS, HISTORY_KEYS, HistoryEntry

_HEADINGS = {
    "overall_accuracy": "accuracy",
    "balanced_accuracy": "balanced",
    "mcc": "MCC",
    "macro_f1": "macro F1",
    "subset_accuracy": "subset acc.",
    "hamming_loss": "Hamming",
    "example_jaccard": "Jaccard",
}


def history_table(entries: Sequence[HistoryEntry]) -> Table:
    """One line for each evaluation, oldest first."""
    table = open_table(caption="The evaluation that counts is marked with *.")
    known = {key for entry in entries for key in entry.evaluation.metrics}
    keys = [key for key in ALL_KEYS if key in known] or HISTORY_KEYS
    for name in ("computed", "cases", "n", *(_HEADINGS[key] for key in keys)):
        table.add_column(name)
    table.add_column("what differed", overflow="fold")
    for entry in entries:
        past = entry.evaluation
        mark = " *" if past.is_current else ""
        table.add_row(
            past.computed_at.isoformat(sep=" ", timespec="seconds") + mark,
            Text(printable(past.slice or "all")),
            coverage(past.n_labelled, past.n_cases - past.n_labelled),
            *(
                number(key, past.metrics[key], with_interval=False) if key in past.metrics else ""
                for key in keys
            ),
            Text("; ".join(entry.differences)),
        )
    return table


def history_list(entries: Sequence[HistoryEntry]) -> list[dict[str, Any]]:
    """The same for programs."""
    return [
        {
            "slice": entry.evaluation.slice,
            "is_current": entry.evaluation.is_current,
            "truth_version": entry.evaluation.truth_number,
            "suite_version": entry.evaluation.suite_version,
            "engine_version": entry.evaluation.engine_version,
            "n": entry.evaluation.n_labelled,
            "n_unlabelled": entry.evaluation.n_cases - entry.evaluation.n_labelled,
            "computed_at": time_text(entry.evaluation.computed_at),
            "differences": list(entry.differences),
            "aggregate": {key: value.to_dict() for key, value in entry.evaluation.metrics.items()},
        }
        for entry in entries
    ]
