"""The compared runs with letters and marks, how they differ, and the examples they share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from offdiag.comparison.pair import PairComparison
from offdiag.comparison.texts import differing_versions, run_label
from offdiag.domain.runs import logged_by
from offdiag.domain.sentences import enumerated
from offdiag.metrics.weighted.counts import WeightedCounts
from offdiag.services.comparisons.comparability import label_versions
from offdiag.services.comparisons.compare import RunComparison
from offdiag.services.comparisons.shared_samples import SharedSamples
from offdiag.store.compared_runs import ComparedRun
from offdiag_web.charts.marks import MOST_MARKED, run_mark, run_style
from offdiag_web.components import numbers
from offdiag_web.components.controls import Caution, orientation_warning
from offdiag_web.urls.compare import CompareAddress
from offdiag_web.urls.run import run_url


@dataclass(frozen=True, slots=True)
class RunIdentity:
    """A run by its letter. `mark` is None for runs beyond those that charts distinguish."""

    run_label: str
    name: str
    id: str
    url: str
    model: str | None
    css: str
    mark: Markup | None
    is_matrix: bool
    labels: str
    remove_url: str | None
    compare_url: str | None


def run_identities(
    runs: tuple[ComparedRun, ...], address: CompareAddress
) -> tuple[RunIdentity, ...]:
    """All runs; they can be removed as long as two remain, and compared with just the first.

    Label versions are named if they differ.
    """
    is_marked = len(runs) <= MOST_MARKED
    versions = differing_versions(label_versions(runs))
    first = runs[0].id
    return tuple(
        RunIdentity(
            run_label=run_label(position),
            name=run.name,
            id=run.id,
            url=run_url(run.id),
            model=run.model,
            css=run_style(position).css_class if is_marked else "run-plain",
            mark=run_mark(position, name=f"Line and shape of {run_label(position)} in charts")
            if is_marked
            else None,
            is_matrix=not run.has_predictions,
            labels=f"labels {versions[position]}" if versions and versions[position] else "",
            remove_url=address.without(run.id).url() if len(runs) > 2 else None,
            compare_url=CompareAddress((first, run.id), address.part, address.on_shared).url()
            if len(runs) > 2 and position
            else None,
        )
        for position, run in enumerate(runs)
    )


def cautions(runs: tuple[ComparedRun, ...]) -> tuple[tuple[str, Caution], ...]:
    """Warnings about matrices in doubtful orientation, whose classes are compared wrongly."""
    found = (
        (run_label(position), orientation_warning(run.source, run.orientation_verdict))
        for position, run in enumerate(runs)
    )
    return tuple((name, caution) for name, caution in found if caution is not None)


def title_of(runs: tuple[ComparedRun, ...]) -> str:
    """ "focal and plain" or "focal and 3 others", for tabs and bookmarks."""
    names = [numbers.shortened(run.name) for run in runs]
    if len(names) == 2:
        return f"{names[0]} and {names[1]}"
    return f"{names[0]} and {len(names) - 1} others"


def samples_text(found: RunComparison) -> str:
    """ "same 1,503 examples, paired", followed by what is left out."""
    if found.samples is None:
        return "matrices without predictions, not paired"
    parts = [_which(found.samples, how=_how(found))]
    if isinstance(found.result, PairComparison) and isinstance(found.result.first, WeightedCounts):
        effective = numbers.count(round(found.result.first.n_effective))
        parts.append(f"weighted, effective sample size {effective}")
    if found.part is not None:
        parts.append(f"slice {found.part}")
    if found.samples.n_unlabelled:
        parts.append(f"{numbers.count(found.samples.n_unlabelled)} without a label left out")
    if found.samples.n_relabelled:
        n_relabelled = numbers.count(found.samples.n_relabelled)
        parts.append(f"{n_relabelled} with contradicting labels left out")
    return " · ".join(parts)


def truth_text(found: RunComparison) -> str:
    """ "derm-7 · labels v2"."""
    first = found.runs[0]
    versions = sorted({run.truth.number for run in found.runs if run.truth is not None})
    if not versions:
        return first.dataset
    return f"{first.dataset} · labels {', '.join(f'v{number}' for number in versions)}"


def _how(found: RunComparison) -> str:
    """ "paired", or which runs are not."""
    letters = [run_label(at) for at in found.unpaired]
    if not letters:
        return "paired"
    return f"{enumerated(letters)} not paired"


def _which(samples: SharedSamples, *, how: str) -> str:
    n_compared = numbers.plural(samples.n_compared, "example")
    if samples.are_the_same:
        return f"{'same ' if how == 'paired' else ''}{n_compared}, {how}"
    sizes = " and ".join(numbers.count(n) for n in samples.n_each)
    return f"{n_compared}, {how}: the shared ones of {sizes}"


_ABSENT = "not set"


def differing_metadata(runs: Sequence[ComparedRun]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The facts that differ: first those of the run, then parameters and tags by name."""
    facts = [_facts(run) for run in runs]
    names = dict.fromkeys(name for each in facts for name in each)
    rows = ((name, tuple(each.get(name, _ABSENT) for each in facts)) for name in names)
    return tuple((name, values) for name, values in rows if len(set(values)) > 1)


def _facts(run: ComparedRun) -> dict[str, str]:
    known = {
        "model": run.model,
        **logged_by(run),
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
    return {
        f"{kind} {name}": ("none" if value is None else str(value))
        for name, value in sorted(entries.items())
    }
