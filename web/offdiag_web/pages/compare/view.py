"""The page that compares runs: which runs, on which examples, what differs, slices, curves."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from flask import render_template
from markupsafe import Markup

from offdiag.comparison.by_slice import PartChange, SliceChanges
from offdiag.comparison.many import ManyComparison
from offdiag.comparison.pair import PairComparison
from offdiag.domain.runs import RunState
from offdiag.metrics.scores.score_curves import ScoreCurve, of_other_class
from offdiag.services.comparisons.compare import RunComparison
from offdiag.store.compared_runs import ComparedRun
from offdiag.store.database import Database
from offdiag.store.evaluations_write import curves_of_runs
from offdiag.store.run_costs import OtherRun
from offdiag_web.charts.curves import RunPoints, precision_recall_of_runs, roc_of_runs
from offdiag_web.charts.marks import run_style
from offdiag_web.charts.reliability import reliability_of_runs
from offdiag_web.components import numbers
from offdiag_web.components.classes import class_order, quoted_name
from offdiag_web.components.controls import Link
from offdiag_web.components.curves import drawn_bins
from offdiag_web.components.datasets import Overview
from offdiag_web.components.metric_values import Notes
from offdiag_web.components.slices import SliceChoice, slice_choices
from offdiag_web.pages.compare.many import many_view
from offdiag_web.pages.compare.metric_differences import (
    DifferenceLine,
    difference_line,
    symmetric_scale,
)
from offdiag_web.pages.compare.pair import pair_view
from offdiag_web.pages.compare.runs import (
    cautions,
    differing_metadata,
    run_identities,
    samples_text,
    title_of,
    truth_text,
)
from offdiag_web.urls.compare import CompareAddress, newest_url
from offdiag_web.urls.filter_line import dataset_terms


def compare_page(
    found: RunComparison,
    address: CompareAddress,
    notices: list[str],
    *,
    curves: CurvesView | None,
) -> str:
    """Present a comparison according to its address."""
    runs = run_identities(found.runs, address)
    n_shared = None if found.refusal is None else found.refusal.n_shared
    return render_template(
        "compare/page.html",
        found=found,
        address=address,
        notices=notices,
        title=f"Compare {title_of(found.runs)} · {found.runs[0].dataset}",
        heading=f"Compare {numbers.plural(len(runs), 'run')}",
        samples="" if found.refusal else samples_text(found),
        scope=truth_text(found),
        runs=runs,
        cautions=cautions(found.runs),
        pair=pair_view(found.result, found.runs, address)
        if isinstance(found.result, PairComparison)
        else None,
        curves=curves,
        many=many_view(found.result, runs, address)
        if isinstance(found.result, ManyComparison)
        else None,
        metadata=differing_metadata(found.runs),
        by_slice=slice_strip(found.by_slice, address),
        slices=_slice_choices(found),
        all_url=replace(address, part=None).url(),
        shared_url=replace(address, on_shared=True).url() if n_shared else None,
        swap_url=address.swapped().url() if len(runs) == 2 else None,
        add_url=address.selection_url(dataset_terms(found.runs[0].dataset, None)),
        scores_note=_scores_note(found),
    )


def _slice_choices(found: RunComparison) -> tuple[SliceChoice, ...]:
    if found.unpaired:
        return ()
    chosen = None if found.part is None else str(found.part)
    return slice_choices(found.slice_levels, chosen)


def _scores_note(found: RunComparison) -> str | None:
    """A note if only one of two runs has scores."""
    if not isinstance(found.result, PairComparison) or found.result.paired is None:
        return None
    has_scores = [bool(run.score_columns) for run in found.runs]
    if has_scores[0] == has_scores[1]:
        return None
    which = "A" if has_scores[0] else "B"
    return f"Only {which} has scores, so ranking and calibration are not compared."


@dataclass(frozen=True, slots=True)
class DatasetChoice:
    """A dataset whose runs can be compared.

    The newest run can be compared with the champion, if there is one, and with the best run.
    """

    name: str
    n_runs: str
    url: str
    champion_url: str | None
    best_url: str | None


def choosing_view(
    overview: Overview,
    address: CompareAddress,
    notices: list[str],
    *,
    rivals: Sequence[OtherRun],
    with_champion: Collection[int],
) -> str:
    """Present the datasets that have runs to choose from; some have a champion.

    `rivals` are runs to compare with the chosen one.
    """
    names = [dataset.name for dataset, _ in overview]
    return render_template(
        "compare/choose.html",
        notices=notices,
        chosen=address.run_ids[0] if address.run_ids else None,
        rivals=tuple(
            (
                Link(
                    numbers.shortened(run.name, longest=60),
                    CompareAddress((*address.run_ids, run.id)).url(),
                ),
                run.model or "not given",
                run.created_at,
            )
            for run in rivals
        ),
        datasets=tuple(
            DatasetChoice(
                name=dataset.name,
                n_runs=numbers.plural(runs.total, "run"),
                url=address.selection_url(
                    dataset_terms(
                        dataset.name, None if names.count(dataset.name) == 1 else dataset.project
                    )
                ),
                champion_url=newest_url(dataset.project, dataset.name, "champion")
                if dataset.id in with_champion
                else None,
                best_url=newest_url(dataset.project, dataset.name, "best")
                if runs.by_state[RunState.EVALUATED] > 1
                else None,
            )
            for dataset, runs in overview
            if runs.total
        ),
    )


MOST_LINES = 6
MOST_FOLDED = 200


@dataclass(frozen=True, slots=True)
class SliceLine:
    """A slice with its number of examples; `url` leads to the comparison on only this slice."""

    name: str
    n: str
    url: str | None
    difference: DifferenceLine


def slice_strip(found: SliceChanges | None, address: CompareAddress) -> dict[str, object] | None:
    """The card; None if the runs are not compared by slice."""
    if found is None or not found.slices:
        return None
    notes = Notes()
    by_loss = sorted(
        (*found.slices, *found.classes), key=lambda part: part.change.difference.value or 0.0
    )
    changed = [part for part in by_loss if part.change.outcome.is_separable]
    first = _largest(changed, MOST_LINES)
    rest = [part for part in by_loss if part not in first][:MOST_FOLDED]
    scale = symmetric_scale(part.change for part in (found.whole, *first, *rest))

    def line(part: PartChange) -> SliceLine:
        return SliceLine(
            part.name,
            numbers.count(part.counts.total),
            None if part.slice is None else replace(address, part=part.slice).url(),
            difference_line(part.change, part.name, scale, notes, among="all slices"),
        )

    return {
        "verdict": found.verdict,
        "ends": scale.ends,
        "lines": tuple(map(line, (found.whole, *first))) if first else (),
        "further": tuple(map(line, rest)),
        "left_out": _left_out(found),
        "min_size": found.min_size,
    }


def _largest(changed: Sequence[PartChange], most: int) -> list[PartChange]:
    kept = sorted(changed, key=lambda part: -abs(part.change.difference.value or 0.0))[:most]
    return [part for part in changed if part in kept]


def _left_out(found: SliceChanges) -> str:
    parts = []
    if found.too_small:
        parts.append(f"Fewer than {found.min_size} examples: {', '.join(found.too_small)}.")
    if found.n_suppressed:
        parts.append(f"Too small to be shown: {numbers.plural(found.n_suppressed, 'slice')}.")
    return " ".join(parts)


_A_AND_B = "AB"


@dataclass(frozen=True, slots=True)
class CurvesView:
    """Pictures with titles for the class with this name, and the classes to choose from."""

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
    if not all(run.score_columns for run in runs) or not (
        found.samples is not None and found.samples.are_the_same
    ):
        return None
    names = pair.labels
    code = _chosen(pair, runs, address)
    with database.read() as session:
        curves = curves_of_runs(
            session, [run.id for run in runs], {code, 1 - code} if len(names) == 2 else {code}
        )
    both = [_of_class(curves.get(run.id, {}), code, len(names)) for run in runs]
    drawn = [curve for curve in both if curve is not None]
    if len(drawn) < 2:
        return None
    pictures = tuple(_pictures(drawn, names[code]))
    is_positive_only = runs[0].positive_label is not None
    order = () if is_positive_only else tuple(names[at] for at in class_order(pair.first, None))
    return CurvesView(names[code], pictures, order) if pictures else None


def _chosen(pair: PairComparison, runs: Sequence[ComparedRun], address: CompareAddress) -> int:
    """The requested class, the positive one, or the class whose recall changes most."""
    for name in (address.curves, runs[0].positive_label):
        if name is not None and name in pair.labels:
            return pair.labels.index(name)
    changes = [abs(each.difference.value or 0.0) for each in pair.classes["recall"]]
    return max(range(len(changes)), key=lambda code: (changes[code], -code))


def _of_class(curves: dict[int, ScoreCurve], code: int, n_classes: int) -> ScoreCurve | None:
    if code in curves or n_classes != 2:
        return curves.get(code)
    other = curves.get(1 - code)
    return None if other is None else of_other_class(other)


def _pictures(both: Sequence[ScoreCurve], name: str) -> list[tuple[str, Markup]]:
    lines = [RunPoints(_A_AND_B[at], run_style(at), curve.points) for at, curve in enumerate(both)]
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
                    [(_A_AND_B[at], run_style(at), each) for at, each in enumerate(judged)],
                    score_name=f"score of {quoted_name(name)}",
                    share_name=f"share of {quoted_name(name)}",
                    name=f"Calibration of A and B for {quoted_name(name)}",
                ),
            )
        )
    return found
