"""The confusion matrix of the best run, where it is small enough to be read."""

from __future__ import annotations

from dataclasses import dataclass

from offdiag.reports import wording
from offdiag.reports.report import Report

CORNER = "actual ↓ predicted →"


@dataclass(frozen=True, slots=True)
class LeaderMatrix:
    """`rows` are an actual class with its cases by predicted class, in the order of `labels`."""

    title: str
    corner: str
    labels: tuple[str, ...]
    rows: tuple[tuple[str, tuple[int, ...]], ...]


def leader_matrix(report: Report) -> LeaderMatrix | None:
    """The matrix with both axes named, None where there is no run or too many classes."""
    leader = report.snapshot.leader
    if leader is None or leader.matrix is None:
        return None
    matrix = leader.matrix
    total = sum(map(sum, matrix.counts))
    name = wording.name(report.ranking[0].name)
    return LeaderMatrix(
        title=f"Confusion matrix of {name}: actual class down, predicted class across, "
        f"{wording.count(total, 'case')}",
        corner=CORNER,
        labels=matrix.labels,
        rows=tuple(zip(matrix.labels, matrix.counts, strict=True)),
    )
