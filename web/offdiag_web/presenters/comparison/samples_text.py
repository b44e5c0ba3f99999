"""On which examples runs were compared, in one line."""

from __future__ import annotations

from offdiag.comparison.wording import letter
from offdiag.services.comparison.alignment import SharedSamples
from offdiag.services.comparison.comparing import RunComparison
from offdiag_web.presenters import numbers


def samples_text(found: RunComparison) -> str:
    """ "same 1,503 examples, paired"; what is left out follows."""
    if found.samples is None:
        return "matrices without predictions, not paired"
    parts = [_which(found.samples, how=_how(found))]
    if found.part is not None:
        parts.append(f"slice {found.part}")
    if found.samples.n_unlabelled:
        parts.append(f"{numbers.count(found.samples.n_unlabelled)} without a label left out")
    if found.samples.n_relabelled:
        n_relabelled = numbers.count(found.samples.n_relabelled)
        parts.append(f"{n_relabelled} with contradicting labels left out")
    return " · ".join(parts)


def truth_text(found: RunComparison) -> str:
    """ "derm-7 · truth v2"."""
    first = found.runs[0]
    versions = sorted({run.truth.number for run in found.runs if run.truth is not None})
    if not versions:
        return first.dataset
    return f"{first.dataset} · truth {', '.join(f'v{number}' for number in versions)}"


def _how(found: RunComparison) -> str:
    """ "paired", or which runs are not."""
    letters = [letter(at) for at, run in enumerate(found.runs) if not run.has_predictions]
    if not letters:
        return "paired"
    return f"{numbers.listed(letters, at_most=len(letters))} not paired"


def _which(samples: SharedSamples, *, how: str) -> str:
    n_compared = numbers.plural(samples.n_compared, "example")
    if samples.are_the_same:
        return f"{'same ' if how == 'paired' else ''}{n_compared}, {how}"
    sizes = " and ".join(numbers.count(n) for n in samples.n_each)
    return f"{n_compared}, {how}: the shared ones of {sizes}"
