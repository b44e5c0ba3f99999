"""A comparison as a notebook shows it: the runs, the verdict, and the headline numbers."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from offdiag.comparison import wording
from offdiag.comparison.letters import letter
from offdiag.comparison.many import ManyComparison
from offdiag.comparison.pair import PairComparison
from offdiag.domain.values import MetricValue
from offdiag.services.comparison.comparing import RunComparison

_RIGHT = "style='text-align:right'"


def comparison_html(found: RunComparison) -> str:
    """One HTML fragment; names are escaped, nothing is loaded from elsewhere."""
    runs = "".join(
        f"<li><b>{letter(position)}</b> {escape(run.name)} <code>{escape(run.id)}</code></li>"
        for position, run in enumerate(found.runs)
    )
    verdict = ""
    if found.verdict is not None:
        details = escape(" ".join(found.verdict.details))
        verdict = f"<p><b>{escape(found.verdict.headline)}</b> {details}</p>"
    head, rows = _table(found.result)
    body = "".join(f"<tr>{''.join(_cells(row))}</tr>" for row in rows)
    names = "".join(f"<th scope='col'>{escape(name)}</th>" for name in head)
    return (
        f"<div><ul>{runs}</ul>{verdict}"
        f"<table><thead><tr>{names}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _cells(row: tuple[str, ...]) -> Iterator[str]:
    first, *others = (escape(cell) for cell in row)
    yield f"<th scope='row'>{first}</th>"
    for cell in others:
        yield f"<td {_RIGHT}>{cell}</td>"


def _table(
    result: PairComparison | ManyComparison | None,
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    match result:
        case PairComparison():
            head = ("metric", "A", "B", "B − A", f"{wording.level_text(result.confidence)} CI")
            return head, [
                (
                    wording.title(each.key),
                    _number(each.first),
                    _number(each.second),
                    wording.gap_text(each.key, each.difference),
                    wording.gap_interval(each.key, each.difference) or "none",
                )
                for each in result.metrics
            ]
        case ManyComparison():
            letters = tuple(letter(position) for position in range(len(result.matrices)))
            return ("metric", *letters), [
                (
                    wording.title(key),
                    *(f"{_number(place.value)} ({place.standing.value})" for place in places),
                )
                for key, places in result.places.items()
            ]
        case None:
            return (), []


def _number(value: MetricValue) -> str:
    return "undefined" if value.value is None else f"{value.value:.3f}"
