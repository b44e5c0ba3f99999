"""Flags as a card of a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from offdiag.sdk.display.card import card, cell, column, head, table
from offdiag.sdk.display.displayed import DisplayedFlag

MOST_FLAGS = 40


def flags_card(flags: Sequence[DisplayedFlag]) -> str:
    """One HTML fragment: severity, rule, class and message, most severe first."""
    title = head("Flags", f"{len(flags)} raised" if flags else "none raised")
    if not flags:
        return card(title)
    rows = [
        cell(flag.severity, left=True)
        + cell(flag.rule, left=True)
        + f'<td class="od-wrap">{escape(flag.message)}</td>'
        + cell(flag.state, left=True)
        for flag in flags[:MOST_FLAGS]
    ]
    hidden = len(flags) - len(rows)
    columns = [column(name, left=True) for name in ("Severity", "Rule", "Message", "State")]
    return card(
        title, table(columns, rows, caption=f"{hidden} more not shown" if hidden > 0 else "")
    )
