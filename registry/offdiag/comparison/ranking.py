"""What a comparison of several runs says, in sentences made from intervals and tests alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from offdiag.comparison import wording
from offdiag.comparison.differences import HEADLINE
from offdiag.comparison.letters import letter
from offdiag.comparison.many import ManyComparison
from offdiag.comparison.standings import Place, Standing
from offdiag.comparison.verdict import Verdict
from offdiag.metrics.paired.cochran import CochranQ
from offdiag.reports.wording import count, listed

LEADING = ("balanced_accuracy", *(key for key in HEADLINE if key != "balanced_accuracy"))
"""The order in which metrics are told; accuracy does not lead, because it hides small classes."""


def many_verdict(many: ManyComparison) -> Verdict:
    """Who is best by each metric, and who cannot be told from the best."""
    told = [key for key in LEADING if _letters(many.places[key], Standing.BEST)]
    if not told:
        return Verdict("No headline metric is defined for any run.", (), "open")
    by_finding: dict[str, list[str]] = {}
    for key in told:
        by_finding.setdefault(_finding(many.places[key]), []).append(key)
    headline, *further = (_sentence(keys, found) for found, keys in by_finding.items())
    return Verdict(headline, (*further, *_details(many)), "open")


def _sentence(keys: Sequence[str], finding: str) -> str:
    """Metrics that say the same are named together, the leading one first."""
    if len(keys) == len(HEADLINE):
        return f"By every headline metric {finding}."
    return f"By {_listed([wording.title_inside(key) for key in keys])} {finding}."


def _finding(places: Sequence[Place]) -> str:
    """ "C is best; A is not separable from it"; one run at least is the best."""
    best = _letters(places, Standing.BEST)[0]
    same, behind, untested = (
        _letters(places, standing)
        for standing in (Standing.NOT_SEPARABLE, Standing.BEHIND, Standing.NOT_TESTED)
    )
    others = len(same) + len(behind) + len(untested)
    if others == 0:
        return f"only {best} has a value"
    if len(same) == others:
        return f"{best} is best, but no other run is separable from it"
    if len(behind) == others:
        return f"{best} is best and all others are behind"
    parts = []
    if same:
        parts.append(f"{_listed(same)} {_be(same)} not separable from it")
    if behind:
        parts.append(f"{_listed(behind)} {_be(behind)} behind")
    if untested:
        parts.append(f"{_listed(untested)} could not be tested")
    return f"{best} is best; {', '.join(parts)}"


def _details(many: ManyComparison) -> Iterator[str]:
    if many.cochran is not None:
        yield _equally_right(many.cochran, many.confidence)
    if many.unpaired:
        letters = _listed([letter(position) for position in many.unpaired])
        if len(many.unpaired) == 1:
            yield f"{letters} is a matrix without predictions, so it is not paired with any run."
        else:
            yield f"{letters} are matrices without predictions, so they are not paired."


def _equally_right(found: CochranQ, confidence: float) -> str:
    if found.q is None or found.p is None:
        return "All runs get the same examples right."
    do = "do not get" if found.p < 1 - confidence else "may get"
    return (
        f"The runs {do} equally many examples right (Cochran's Q = {found.q:.1f}, "
        f"{count(found.df, 'degree')} of freedom, {wording.p_text(found.p)})."
    )


def _be(letters: Sequence[str]) -> str:
    return "is" if len(letters) == 1 else "are"


def _listed(words: Sequence[str]) -> str:
    return listed(words, at_most=len(words))


def _letters(places: Sequence[Place], standing: Standing) -> list[str]:
    return [letter(at) for at, place in enumerate(places) if place.standing is standing]
