"""Comparing stored runs: from their ids to the complete comparison.

The runs and the reasons not to compare them are read first. Results are cached for the next
request for the same comparison.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from offdiag.comparison.by_slice import SliceChanges
from offdiag.comparison.differences import DIFFERENCE_THAT_MATTERS
from offdiag.comparison.many import ManyComparison
from offdiag.comparison.many_verdict import many_verdict
from offdiag.comparison.pair import PairComparison
from offdiag.comparison.pair_verdict import Verdict, pair_verdict
from offdiag.domain.runs import require_several
from offdiag.domain.slices import Slice, parse_slice
from offdiag.errors import InvalidInput
from offdiag.metrics.arguments import confidence_level
from offdiag.services.comparisons.by_slice import ComparedColumns, counted_columns, read_columns
from offdiag.services.comparisons.comparability import (
    Refusal,
    hidden_by_size,
    hidden_slice,
    refused,
    refused_on_other_labels,
    refused_with_chosen,
    refused_with_weights,
)
from offdiag.services.comparisons.compute import Compared, ComparisonRequest, Result, compute
from offdiag.services.comparisons.counted_together import CountedTogether, counted_together
from offdiag.services.comparisons.shared_samples import SharedSamples
from offdiag.services.lru_cache import LruCache, result_of
from offdiag.services.small_groups import GroupSizes, sizes_in_truth, suppressed_below
from offdiag.store import compared_runs as queries
from offdiag.store import slices
from offdiag.store.compared_runs import ComparedRun
from offdiag.store.database import Database, Session
from offdiag.store.runs import no_run
from offdiag.store.slices import SliceChoices


def runs_named(session: Session, run_ids: Sequence[str]) -> tuple[ComparedRun, ...]:
    """The runs in the given order. Raises `NotFound`."""
    found = queries.compared_runs(session, run_ids)
    missing = next((each for each in run_ids if each not in found), None)
    if missing is not None:
        raise no_run(session, missing)
    return tuple(found[each] for each in run_ids)


def choices_of(
    session: Session,
    runs: Sequence[ComparedRun],
    part: Slice | None,
    counted: CountedTogether | None = None,
) -> SliceChoices:
    """How the samples of the first run with predictions, or counted samples, can be sliced."""
    if counted is not None:
        return counted.choices
    roots = [run.truth.root_id for run in runs if run.has_predictions and run.truth]
    names = set() if part is None else {term.name for term in part.terms}
    if not roots:
        return SliceChoices({}, {})
    return slices.slice_choices(session, roots[0], names)


def offered_levels(
    session: Session,
    runs: Sequence[ComparedRun],
    choices: SliceChoices,
    counted: CountedTogether | None = None,
) -> Mapping[str, tuple[str, ...]]:
    """The values on which the runs can be compared, by column, without hidden ones."""
    k = suppressed_below()
    if not k or not choices.levels:
        return choices.levels
    if counted is not None:
        sizes = GroupSizes(counted.samples.slices, counted.samples.sizes, k)
    else:
        truth = next(run.truth for run in runs if run.has_predictions and run.truth)
        sizes = sizes_in_truth(session, truth, k)
    return {
        name: tuple(each for each in values if each not in sizes.hidden(name))
        for name, values in choices.levels.items()
    }


LARGEST_KEPT = 200_000
"""Largest number of cells in all matrices of a comparison that is cached in memory."""


@dataclass(frozen=True)
class RunComparison:
    """Runs side by side, in the order in which they were named; the first is A.

    `result` is None if they cannot be compared, and `refusal` then says why. `difference` is the
    difference in accuracy that matters, as a share. `by_slice` compares two runs on all samples
    and for every slice column.
    """

    runs: tuple[ComparedRun, ...]
    result: Result | None
    refusal: Refusal | None
    samples: SharedSamples | None
    part: Slice | None
    slice_levels: Mapping[str, tuple[str, ...]]
    on_shared: bool
    difference: float = DIFFERENCE_THAT_MATTERS
    by_slice: SliceChanges | None = None

    @property
    def unpaired(self) -> tuple[int, ...]:
        """Positions of the runs that are compared as if they had different samples."""
        match self.result:
            case ManyComparison():
                return self.result.unpaired
            case PairComparison() if self.result.paired is not None:
                return ()
        return tuple(at for at, run in enumerate(self.runs) if not run.has_predictions)

    @cached_property
    def verdict(self) -> Verdict | None:
        """The conclusion, None if nothing is compared."""
        match self.result:
            case PairComparison():
                return pair_verdict(self.result, difference=self.difference)
            case ManyComparison():
                return many_verdict(self.result, difference=self.difference)
            case None:
                return None


def compare_runs(
    database: Database,
    run_ids: Sequence[str],
    *,
    slice_text: str | None = None,
    on_shared: bool = False,
    confidence: float = 0.95,
    difference: float = DIFFERENCE_THAT_MATTERS,
    kept: LruCache[Compared] | None = None,
) -> RunComparison:
    """Compare two or more runs by their predictions and the current ground truth.

    Runs that were logged with different samples are compared only with `on_shared`, on the samples
    that all have. With `slice_text`, such as "country=DE", only part of the samples are compared.
    The same runs give the same bits, also from `kept`. `difference`, a share in (0, 1], is the
    difference in accuracy that matters: if none is significant, the verdict says how many examples
    would decide it.

    Raises `NotFound` for an unknown run, and `InvalidInput` for fewer than two runs or more than
    there are letters, for a run that is named twice, for a slice that cannot be read, and for a
    difference out of range.
    """
    require_several(run_ids)
    if not 0 < difference <= 1:
        raise InvalidInput(
            f"{difference} is not a difference that could matter.",
            field="difference",
            hint="Give a share above 0 and up to 1, such as 0.01 for one point.",
        )
    level = confidence_level(confidence)
    part = parse_slice(slice_text) if slice_text else None
    with database.read() as session:
        runs = runs_named(session, run_ids)
        refusal = refused(runs) or refused_with_weights(runs) or refused_with_chosen(runs)
        if refusal is not None:
            return RunComparison(runs, None, refusal, None, part, {}, on_shared)
        counted = None
        if not any(run.has_predictions for run in runs):
            counted = counted_together(session, run_ids)
        if counted is None and (refusal := refused_on_other_labels(runs)) is not None:
            return RunComparison(runs, None, refusal, None, part, {}, on_shared)
        refusal = hidden_slice(session, runs, part, counted)
        if refusal is not None:
            choices = choices_of(session, runs, None, counted)
            levels = offered_levels(session, runs, choices, counted)
            return RunComparison(runs, None, refusal, None, part, levels, on_shared)
        by = _columns_of(session, runs, counted) if part is None else None
        choices = choices_of(session, runs, part, counted) if by is None else by.choices
        levels = offered_levels(session, runs, choices, counted)
        asked = ComparisonRequest(runs, part, choices, on_shared, level, by, counted)
        is_kept = len(runs) * len(runs[0].labels) ** 2 <= LARGEST_KEPT
        found = result_of(kept if is_kept else None, asked.key, lambda: compute(session, asked))
    refusal = hidden_by_size(found.samples, part)
    if refusal is not None:
        found = Compared(None, None, refusal)
    return RunComparison(
        runs,
        found.result,
        found.refusal,
        found.samples,
        part,
        levels,
        on_shared,
        difference,
        found.by_slice,
    )


def _columns_of(
    session: Session, runs: Sequence[ComparedRun], counted: CountedTogether | None
) -> ComparedColumns | None:
    """The columns by which two runs can be compared: those of the samples of the first."""
    if counted is not None:
        return counted_columns(counted.samples) if len(runs) == 2 else None
    if len(runs) != 2 or not all(run.has_predictions and run.truth for run in runs):
        return None
    assert runs[0].truth is not None  # noqa: S101  # Just checked.
    return read_columns(session, runs[0].truth)
