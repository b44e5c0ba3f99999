"""Comparing stored runs from a notebook or a script."""

from __future__ import annotations

from collections.abc import Iterable

from offdiag.comparison.differences import DIFFERENCE_THAT_MATTERS
from offdiag.errors import Conflict, InvalidInput
from offdiag.sdk.comparison import Comparison
from offdiag.sdk.registry import CompareQuestion
from offdiag.sdk.run import Run
from offdiag.sdk.target import target


def compare(
    runs: Iterable[str | Run],
    *,
    baseline: str | Run | None = None,
    slice: str | None = None,  # noqa: A002 - the word of the field
    on_shared: bool = False,
    confidence: float = 0.95,
    difference: float = DIFFERENCE_THAT_MATTERS,
    url: str | None = None,
) -> Comparison:
    """Compare two or more runs of one dataset, example by example where that is possible.

    `runs` are ids, or what `log_run` returned; the first is A, the second B. `baseline` moves
    one of them to the front, or joins it to them. `slice`, such as "country=DE", takes a part
    of the examples. Runs that predicted different examples are compared only with `on_shared`,
    on those that all share. `difference` is the one in accuracy that matters to you, as a share:
    where none is significant the verdict says how many examples would settle it. `url` is the
    registry, by default the configured one.

    Raises `NotFound` for an unknown run, `InvalidInput` for fewer than two runs, and `Conflict`
    for runs that cannot be compared, with the reason.
    """
    ids = [_id(run) for run in runs]
    if baseline is not None:
        first = _id(baseline)
        ids = [first, *(each for each in ids if each != first)]
    record = target(url).compare(
        CompareQuestion(tuple(ids), slice, on_shared, confidence, difference)
    )
    refusal = record["refusal"]
    if refusal is not None:
        hint = refusal["hint"]
        if refusal["n_shared"] is not None:
            hint = "Pass on_shared=True to compare them on the shared ones."
        raise Conflict(refusal["why"], field="runs", hint=hint)
    return Comparison(record)


def _id(run: str | Run) -> str:
    if isinstance(run, Run):
        return run.id
    if isinstance(run, str):
        return run
    raise InvalidInput(
        f"{run!r} is no run.", field="runs", hint="Give ids of runs, or what log_run returned."
    )
