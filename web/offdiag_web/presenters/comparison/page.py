"""The page of a comparison, put together from its parts."""

from __future__ import annotations

from dataclasses import dataclass, replace

from offdiag.comparison.many import ManyComparison
from offdiag.comparison.pair import PairComparison
from offdiag.comparison.verdict import Verdict
from offdiag.domain.slices import Slice, SliceTerm
from offdiag.services.comparison.comparing import RunComparison
from offdiag.services.comparison.refusals import Refusal
from offdiag_web.addresses.compare import CompareAddress
from offdiag_web.presenters import numbers
from offdiag_web.presenters.comparison.identity import (
    LetteredCaution,
    RunIdentity,
    RunUrl,
    cautions,
    run_identities,
    title_of,
)
from offdiag_web.presenters.comparison.many_page import ManyView, many_view
from offdiag_web.presenters.comparison.metadata import MetadataRow, differing_metadata
from offdiag_web.presenters.comparison.pair_page import PairView, pair_view
from offdiag_web.presenters.comparison.samples_text import samples_text, truth_text
from offdiag_web.urls.filter_line import quoted

MOST_LEVELS = 50
"""Values of a slice column up to which they are offered to be picked."""


@dataclass(frozen=True, slots=True)
class SliceChoice:
    """A slice that can be picked."""

    text: str
    is_chosen: bool


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
    many: ManyView | None
    refusal: Refusal | None
    metadata: tuple[MetadataRow, ...]
    slices: tuple[SliceChoice, ...]
    part: str | None
    all_url: str
    shared_url: str | None
    swap_url: str | None
    add_url: str
    scores_note: str | None


def compare_page(found: RunComparison, address: CompareAddress, *, run_url: RunUrl) -> ComparePage:
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
        many=many_view(found.result, runs, address)
        if isinstance(found.result, ManyComparison)
        else None,
        refusal=found.refusal,
        metadata=differing_metadata(found.runs),
        slices=_slice_choices(found),
        part=address.part,
        all_url=replace(address, part=None).url(),
        shared_url=replace(address, on_shared=True).url() if n_shared else None,
        swap_url=address.swapped().url() if len(runs) == 2 else None,
        add_url=address.selection_url(f"dataset:{quoted(found.runs[0].dataset)}"),
        scores_note=_scores_note(found),
    )


def _slice_choices(found: RunComparison) -> tuple[SliceChoice, ...]:
    if not all(run.has_predictions for run in found.runs):
        return ()
    chosen = "" if found.part is None else str(found.part)
    texts = [
        str(Slice((SliceTerm(name, level),)))
        for name, levels in found.slice_levels.items()
        if len(levels) <= MOST_LEVELS
        for level in levels
    ]
    if chosen and chosen not in texts:
        texts.append(chosen)
    return tuple(SliceChoice(text, text == chosen) for text in texts)


def _scores_note(found: RunComparison) -> str | None:
    """Said where only one of two runs has scores."""
    if not isinstance(found.result, PairComparison) or found.result.paired is None:
        return None
    has_scores = [bool(run.score_columns) for run in found.runs]
    if has_scores[0] == has_scores[1]:
        return None
    which = "A" if has_scores[0] else "B"
    return f"Only {which} has scores, so ranking and calibration are not compared."
