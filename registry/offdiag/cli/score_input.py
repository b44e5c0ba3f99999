"""Columns of scores in a file, evaluated beside the actual classes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from offdiag.cli.options import parse_labels

if TYPE_CHECKING:
    from offdiag.sdk.score_evaluation import ScoreEvaluation


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreInput:
    """A file, its column of actual classes, and the columns of their scores."""

    file: Path
    true_column: str
    score_columns: tuple[str, ...]
    labels: str | None
    positive_label: str | None

    def evaluated(self) -> ScoreEvaluation:
        """Every metric of the scores with its interval. Raises `InvalidInput`."""
        from offdiag.inputs.files import read_columns, stacked_numbers
        from offdiag.inputs.scores import PickedColumns
        from offdiag.sdk.intervals import score_intervals
        from offdiag.sdk.scores import evaluate_scores

        labels = parse_labels(self.labels)
        found = read_columns(
            self.file,
            [self.true_column, *self.score_columns],
            empty_text=[self.true_column] if "" in (labels or ()) else (),
        )
        numbers = stacked_numbers({name: found[name] for name in self.score_columns})
        return score_intervals(
            evaluate_scores(
                y_true=found[self.true_column],
                y_score=PickedColumns(numbers, self.score_columns),
                labels=labels,
                positive_label=self.positive_label,
            )
        )
