"""ROC, precision-recall and calibration curves of two runs, drawn over each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from offdiag.comparison.pair import PairComparison
from offdiag.metrics.scores.score_curves import ScoreCurve, of_other_class
from offdiag.services.compare import RunComparison
from offdiag.store.compared_runs import ComparedRun
from offdiag.store.database import Database
from offdiag.store.evaluations_write import curves_of_runs
from offdiag_web.charts.marks import run_style
from offdiag_web.charts.reliability import reliability_of_runs
from offdiag_web.charts.scores import RunPoints, precision_recall_of_runs, roc_of_runs
from offdiag_web.components.classes import class_order, quoted_name
from offdiag_web.components.curves import drawn_bins
from offdiag_web.urls.compare import CompareAddress

_LETTERS = "AB"


@dataclass(frozen=True, slots=True)
class CurvesView:
    """Pictures with their titles for the class with this name, and the classes to choose from."""

    name: str
    pictures: tuple[tuple[str, Markup], ...]
    names: tuple[str, ...]


def curves_view(
    database: Database, found: RunComparison, address: CompareAddress
) -> CurvesView | None:
    """Read and present the curves; None unless both runs have scores on all the same examples."""
    pair, runs = found.result, found.runs
    if not isinstance(pair, PairComparison) or pair.paired is None or found.part is not None:
        return None
    if not all(run.score_columns for run in runs) or not _are_of_the_same(found):
        return None
    names = pair.labels
    code = _chosen(pair, runs, address)
    with database.read() as session:
        curves = curves_of_runs(session, [run.id for run in runs], _with_other(code, len(names)))
    both = [_of_class(curves.get(run.id, {}), code, len(names)) for run in runs]
    drawn = [curve for curve in both if curve is not None]
    if len(drawn) < 2:
        return None
    pictures = tuple(_pictures(drawn, names[code]))
    is_positive_only = runs[0].positive_label is not None
    order = () if is_positive_only else tuple(names[at] for at in class_order(pair.first, None))
    return CurvesView(names[code], pictures, order) if pictures else None


def _are_of_the_same(found: RunComparison) -> bool:
    return found.samples is not None and found.samples.are_the_same


def _chosen(pair: PairComparison, runs: Sequence[ComparedRun], address: CompareAddress) -> int:
    """The class that was asked for, the positive one, or that whose recall changes most."""
    for name in (address.curves, runs[0].positive_label):
        if name is not None and name in pair.labels:
            return pair.labels.index(name)
    changes = [abs(each.difference.value or 0.0) for each in pair.classes["recall"]]
    return max(range(len(changes)), key=lambda code: (changes[code], -code))


def _with_other(code: int, n_classes: int) -> set[int]:
    return {code, 1 - code} if n_classes == 2 else {code}


def _of_class(curves: dict[int, ScoreCurve], code: int, n_classes: int) -> ScoreCurve | None:
    if code in curves or n_classes != 2:
        return curves.get(code)
    other = curves.get(1 - code)
    return None if other is None else of_other_class(other)


def _pictures(both: Sequence[ScoreCurve], name: str) -> list[tuple[str, Markup]]:
    lines = [RunPoints(_LETTERS[at], run_style(at), curve.points) for at, curve in enumerate(both)]
    found = []
    if all(curve.points.n_positive and curve.points.n_negative for curve in both):
        found += [
            ("ROC", roc_of_runs(lines, name=f"ROC curves of A and B for {quoted_name(name)}")),
            (
                "Precision and recall",
                precision_recall_of_runs(
                    lines, name=f"Precision over recall of A and B for {quoted_name(name)}"
                ),
            ),
        ]
    bins = [curve.bins for curve in both]
    judged = [drawn_bins(each) for each in bins if each is not None and each.count.sum()]
    if len(judged) == len(both):
        found.append(
            (
                "Calibration",
                reliability_of_runs(
                    [(_LETTERS[at], run_style(at), each) for at, each in enumerate(judged)],
                    score_name=f"score of {quoted_name(name)}",
                    share_name=f"share of {quoted_name(name)}",
                    name=f"Calibration of A and B for {quoted_name(name)}",
                ),
            )
        )
    return found
