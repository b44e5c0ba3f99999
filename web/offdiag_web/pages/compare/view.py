"""The page that compares runs: which runs, on which examples, what else differs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from offdiag.comparison.many import ManyComparison
from offdiag.comparison.pair import PairComparison
from offdiag.comparison.verdict import Verdict
from offdiag.domain.runs import RunState
from offdiag.services.compare import RunComparison
from offdiag.services.shared_samples import Refusal
from offdiag.store.compared_runs import ComparedRun
from offdiag_web.components import numbers
from offdiag_web.components.datasets import Overview
from offdiag_web.components.slices import SliceChoice, slice_choices
from offdiag_web.pages.compare.by_slice import SliceStrip, slice_strip
from offdiag_web.pages.compare.curves import CurvesView
from offdiag_web.pages.compare.many import ManyView, many_view
from offdiag_web.pages.compare.pair import PairView, pair_view
from offdiag_web.pages.compare.runs import (
    LetteredCaution,
    RunIdentity,
    RunUrl,
    cautions,
    run_identities,
    samples_text,
    title_of,
    truth_text,
)
from offdiag_web.urls.compare import CompareAddress, newest_url
from offdiag_web.urls.filter_line import quoted

_ABSENT = "not set"


@dataclass(frozen=True, slots=True)
class MetadataRow:
    """One fact that is not the same for all runs, with its text for each of them."""

    name: str
    values: tuple[str, ...]


def differing_metadata(runs: Sequence[ComparedRun]) -> tuple[MetadataRow, ...]:
    """The facts that differ: those of the run first, then parameters and tags by name."""
    facts = [_facts(run) for run in runs]
    names = dict.fromkeys(name for each in facts for name in each)
    rows = (MetadataRow(name, tuple(each.get(name, _ABSENT) for each in facts)) for name in names)
    return tuple(row for row in rows if len(set(row.values)) > 1)


def _facts(run: ComparedRun) -> dict[str, str]:
    known = {
        "model": run.model,
        "author": run.author,
        "git commit": run.git_sha,
        "logged": run.created_at.strftime("%Y-%m-%d %H:%M UTC"),
        "logged as": "predictions" if run.has_predictions else "a matrix",
        "scores per example": str(run.score_columns) if run.has_predictions else None,
    }
    return {
        **{name: text for name, text in known.items() if text is not None},
        **_entries("parameter", run.params),
        **_entries("tag", run.tags),
    }


def _entries(kind: str, entries: Mapping[str, object]) -> dict[str, str]:
    return {f"{kind} {name}": _text(value) for name, value in sorted(entries.items())}


def _text(value: object) -> str:
    return "none" if value is None else str(value)


@dataclass(frozen=True, slots=True)
class ComparePage:
    """Everything the page shows; one of `pair`, `many` and `refusal` is there.

    `shared_url` leads to the comparison on the shared examples, `all_url` back from a slice.
    """

    title: str
    heading: str
    samples: str
    scope: str
    runs: tuple[RunIdentity, ...]
    cautions: tuple[LetteredCaution, ...]
    verdict: Verdict | None
    pair: PairView | None
    curves: CurvesView | None
    many: ManyView | None
    by_slice: SliceStrip | None
    refusal: Refusal | None
    metadata: tuple[MetadataRow, ...]
    slices: tuple[SliceChoice, ...]
    part: str | None
    all_url: str
    shared_url: str | None
    swap_url: str | None
    add_url: str
    scores_note: str | None


def compare_page(
    found: RunComparison,
    address: CompareAddress,
    *,
    run_url: RunUrl,
    curves: CurvesView | None,
) -> ComparePage:
    """Present a comparison as its address asks for."""
    runs = run_identities(found.runs, address, run_url=run_url)
    n_shared = None if found.refusal is None else found.refusal.n_shared
    return ComparePage(
        title=f"Compare {title_of(found.runs)} · {found.runs[0].dataset}",
        heading=f"Compare {numbers.plural(len(runs), 'run')}",
        samples="" if found.refusal else samples_text(found),
        scope=truth_text(found),
        runs=runs,
        cautions=cautions(found.runs),
        verdict=found.verdict,
        pair=pair_view(found.result, found.runs, address)
        if isinstance(found.result, PairComparison)
        else None,
        curves=curves,
        many=many_view(found.result, runs, address)
        if isinstance(found.result, ManyComparison)
        else None,
        refusal=found.refusal,
        metadata=differing_metadata(found.runs),
        by_slice=slice_strip(found.by_slice, address),
        slices=_slice_choices(found),
        part=address.part,
        all_url=replace(address, part=None).url(),
        shared_url=replace(address, on_shared=True).url() if n_shared else None,
        swap_url=address.swapped().url() if len(runs) == 2 else None,
        add_url=address.selection_url(f"dataset:{quoted(found.runs[0].dataset)}"),
        scores_note=_scores_note(found),
    )


def _slice_choices(found: RunComparison) -> tuple[SliceChoice, ...]:
    if found.unpaired:
        return ()
    chosen = None if found.part is None else str(found.part)
    return slice_choices(found.slice_levels, chosen)


def _scores_note(found: RunComparison) -> str | None:
    """Said where only one of two runs has scores."""
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

    The newest run can be compared with the champion, where there is one, and with the best.
    """

    name: str
    n_runs: str
    url: str
    champion_url: str | None
    best_url: str | None


@dataclass(frozen=True, slots=True)
class ChoosingView:
    """What to choose from; `chosen` is the id of the one run that is chosen already."""

    chosen: str | None
    datasets: tuple[DatasetChoice, ...]


def choosing_view(
    overview: Overview, address: CompareAddress, *, with_champion: Collection[int]
) -> ChoosingView:
    """Present the datasets that have runs to choose from; some have a champion."""
    names = [dataset.name for dataset, _ in overview]
    return ChoosingView(
        chosen=address.run_ids[0] if address.run_ids else None,
        datasets=tuple(
            DatasetChoice(
                name=dataset.name,
                n_runs=numbers.plural(runs.total, "run"),
                url=address.selection_url(_query(dataset.project, dataset.name, names)),
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


def _query(project: str, name: str, names: list[str]) -> str:
    in_project = "" if names.count(name) == 1 else f"project:{quoted(project)} "
    return f"{in_project}dataset:{quoted(name)}"
