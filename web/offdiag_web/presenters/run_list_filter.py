"""What the runs list is about: its filter in words, and ways to narrow or widen it."""

from __future__ import annotations

from dataclasses import dataclass

from offdiag.services.browse import RunOverview
from offdiag_web.presenters import numbers
from offdiag_web.presenters.datasets import runs_url, scope_sentence
from offdiag_web.urls.filter_line import ParsedTerm, filter_text
from offdiag_web.urls.run_list import RunListAddress


@dataclass(frozen=True, slots=True)
class TermChip:
    """A term of the filter with the link that removes it and, if nothing matched, its effect."""

    text: str
    problem: str | None
    remove_url: str
    without: str | None


@dataclass(frozen=True, slots=True)
class DatasetLink:
    """A dataset the list could be narrowed to."""

    name: str
    url: str


def title_of(overview: RunOverview, address: RunListAddress) -> str:
    """The filter in words, for bookmarks and tabs."""
    words = filter_text(address.terms)
    scope = overview.scope.name if overview.scope else "all datasets"
    return f"Runs where {words} · {scope}" if words else f"Runs · {scope}"


def scope_text(overview: RunOverview) -> str:
    """What the numbers of the list rest on."""
    if overview.scope is not None:
        return scope_sentence(overview.scope)
    if not overview.datasets:
        return "No dataset yet"
    return f"{numbers.plural(len(overview.datasets), 'dataset')}"


def term_chips(overview: RunOverview, address: RunListAddress) -> tuple[TermChip, ...]:
    """A chip for each term, with what it hides where nothing matched."""
    counts = iter(overview.matches_without)
    return tuple(
        TermChip(
            text=parsed.text,
            problem=parsed.problem,
            remove_url=address.without(index).url(),
            without=_without_text(parsed, next(counts, None)) if parsed.term else None,
        )
        for index, parsed in enumerate(address.terms)
    )


def _without_text(parsed: ParsedTerm, n_runs: int | None) -> str | None:
    return None if n_runs is None else f"{numbers.plural(n_runs, 'run')} without {parsed.text}"


def dataset_links(overview: RunOverview) -> tuple[DatasetLink, ...]:
    """Every dataset with the list of its runs."""
    names = [dataset.name for dataset in overview.datasets]
    return tuple(
        DatasetLink(
            dataset.name,
            runs_url(dataset, name_is_unique=names.count(dataset.name) == 1),
        )
        for dataset in overview.datasets
    )
