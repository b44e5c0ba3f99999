"""An audit of published numbers as a card for slides."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from offdiag_web.charts.card import Card, CardTable, card_svg
from offdiag_web.components import numbers
from offdiag_web.pages.audit.view import NumberLine, VerdictsView

_MOST_LINES = 9
_LONGEST_NAME, _LONGEST_REASON = 28, 56


def audit_card(verdicts: VerdictsView) -> str:
    """The card of an audit as an SVG document: what contradicts comes first."""
    lines = [(model.name, line) for model in verdicts.models for line in model.lines]
    lines.sort(key=lambda each: ("error", "warning", "good").index(_tone(each[1])))
    hidden = len(lines) - _MOST_LINES
    more = f"{numbers.plural(hidden, 'more number')} not shown · " if hidden > 0 else ""
    counts = ", ".join(f"{each.count} {each.mark.text}" for each in verdicts.marked.counts)
    return card_svg(
        Card(
            title="Audit of published numbers",
            subtitle=counts,
            statement=verdicts.sentence,
            table=CardTable(
                ("Number", "Printed", "Verdict", "Reason"),
                list(_rows(lines[:_MOST_LINES])),
                strong=2,
            ),
            picture=None,
            picture_title="",
            foot=f"{more}checked within rounding · offdiag",
        )
    )


def _tone(line: NumberLine) -> str:
    tone = line.verdict.tone
    return tone if tone in {"error", "warning"} else "good"


def _rows(lines: list[tuple[str | None, NumberLine]]) -> Iterator[tuple[str, ...]]:
    for model, line in lines:
        name = f"{model}: {line.name}" if model else line.name
        yield (
            numbers.shortened(name, longest=_LONGEST_NAME),
            line.printed,
            line.verdict.text,
            textwrap.shorten(line.why, _LONGEST_REASON, placeholder=" …"),
        )
