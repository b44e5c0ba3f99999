"""Comparing stored runs: from their ids to everything that can be said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from offdiag.comparison.differences import DIFFERENCE_THAT_MATTERS
from offdiag.comparison.many import ManyComparison
from offdiag.comparison.pair import PairComparison
from offdiag.comparison.ranking import many_verdict
from offdiag.comparison.verdict import Verdict, pair_verdict
from offdiag.domain.slices import Slice, parse_slice
from offdiag.errors import InvalidInput
from offdiag.metrics.arguments import confidence_level
from offdiag.services.comparison.alignment import SharedSamples
from offdiag.services.comparison.computing import Compared, Result, compute
from offdiag.services.comparison.kept import KeptResults
from offdiag.services.comparison.reading import Asked, choices_of, require_several, runs_named
from offdiag.services.comparison.refusals import Refusal, refused
from offdiag.store.compared_runs import ComparedRun
from offdiag.store.database import Database

LARGEST_KEPT = 200_000
"""Cells of all matrices of a comparison up to which it is kept in memory."""


@dataclass(frozen=True)
class RunComparison:
    """Runs beside each other, in the order in which they were named; the first is A.

    `result` is None where they cannot be compared, and `refusal` then says why. `difference` is
    the one in accuracy that matters, as a share.
    """

    runs: tuple[ComparedRun, ...]
    result: Result | None
    refusal: Refusal | None
    samples: SharedSamples | None
    part: Slice | None
    slice_levels: Mapping[str, tuple[str, ...]]
    on_shared: bool
    difference: float = DIFFERENCE_THAT_MATTERS

    @cached_property
    def verdict(self) -> Verdict | None:
        """What can be said, None where nothing is compared."""
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
    kept: KeptResults[Compared] | None = None,
) -> RunComparison:
    """Compare two or more runs, from their predictions and the truth that counts now.

    Runs that were logged with different samples are compared only with `on_shared`, on the
    samples that all have. With `slice_text`, such as "country=DE", on a part of the samples.
    The same runs give the same bits, also from `kept`. `difference`, a share in (0, 1], is the
    one in accuracy that matters: where none is significant the verdict says how many examples
    would settle it.

    Raises `NotFound` for an unknown run, and `InvalidInput` for fewer than two runs or more
    than there are letters, for a run that is named twice, for a slice that cannot be read, and
    for a difference out of range.
    """
    require_several(run_ids)
    if not 0 < difference <= 1:
        raise InvalidInput(
            f"{difference} is no difference that could matter.",
            field="difference",
            hint="Give a share above 0 and up to 1, such as 0.01 for one point.",
        )
    level = confidence_level(confidence)
    part = parse_slice(slice_text) if slice_text else None
    with database.read() as session:
        runs = runs_named(session, run_ids)
        refusal = refused(runs)
        if refusal is not None:
            return RunComparison(runs, None, refusal, None, part, {}, on_shared)
        asked = Asked(runs, part, choices_of(session, runs, part), on_shared, level)
        if kept is None or _cells(runs) > LARGEST_KEPT:
            found = compute(session, asked)
        else:
            found = kept.get(asked.key, lambda: compute(session, asked))
    return RunComparison(
        runs,
        found.result,
        found.refusal,
        found.samples,
        part,
        asked.choices.levels,
        on_shared,
        difference,
    )


def _cells(runs: Sequence[ComparedRun]) -> int:
    return len(runs) * len(runs[0].labels) ** 2
