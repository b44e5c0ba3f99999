"""The HTML frame of cards in notebooks: styles, tables, cells and small interval marks.

A card is static HTML: no script, nothing loaded, colours for light and dark notebooks. JupyterLab
names its theme in `data-jp-theme-light` and VS Code in a class of the body; elsewhere the
browser's setting applies.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

from offdiag.domain.texts import shortened
from offdiag.palette import RAMPS, Ramp, text_on

_STYLE = """
.od-card{color-scheme:light dark;--ink:light-dark(#16202c,#e7ecf2);
--quiet:light-dark(#4c5967,#b3bfcc);--line:light-dark(#dfe4ea,#2a323d);
--page:light-dark(#fff,#171c23);--sunken:light-dark(#f4f6f8,#191f27);
--link:light-dark(#0b4c92,#8fc7ff);--correct:light-dark(#0b4c92,#69caff);
--error:light-dark(#a63e08,#f5ae39);--warn:light-dark(#fdf3e7,#2a1d12);
--warnline:light-dark(#e1a676,#7e4519);
font:13px/1.35 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;
color:var(--ink);background:var(--page);border:1px solid var(--line);border-radius:6px;
padding:10px 14px;margin:4px 0;max-width:1080px;overflow-x:auto}
[data-jp-theme-light="true"] .od-card,body.vscode-light .od-card{color-scheme:light}
[data-jp-theme-light="false"] .od-card,body.vscode-dark .od-card{color-scheme:dark}
.od-card .od-head{display:flex;gap:8px;align-items:baseline;margin:0 0 6px}
.od-card .od-head b{font-size:14px}.od-card .od-head a{margin-left:auto;white-space:nowrap}
.od-card a{color:var(--link)}.od-card .od-q,.od-card caption{color:var(--quiet);font-size:12px}
.od-card .od-say{background:var(--sunken);border:1px solid var(--line);border-radius:4px;
padding:5px 9px;margin:0 0 8px}
.od-card .od-say.od-warn{background:var(--warn);border-color:var(--warnline)}
.od-card .od-say i{font-style:normal;color:var(--error)}
.od-card .od-cols{display:flex;flex-wrap:wrap;gap:12px 32px;align-items:flex-start}
.od-card table{border-collapse:separate;border-spacing:2px;margin:0;font-size:13px;width:auto;
color:inherit;background:none;border:0}
.od-card caption{text-align:left;caption-side:top;padding:0 0 3px}
.od-card tr,.od-card tbody tr:nth-child(odd),.od-card tr:hover{background:none!important}
.od-card td,.od-card th{padding:2px 7px;border:0;text-align:right;vertical-align:middle;
font-weight:400;white-space:nowrap;color:inherit;background:none;max-width:none}
.od-card th{color:var(--quiet);font-size:12px}
.od-card .od-lines th[scope="row"]{color:var(--ink);font-size:13px}
.od-card th.od-l,.od-card td.od-l{text-align:left}
.od-card th.od-axis{color:var(--ink);font-weight:600}
.od-card table.od-lines{border-collapse:collapse}
.od-card .od-lines td,.od-card .od-lines th{border-bottom:1px solid var(--line)}
.od-card td.od-wrap{white-space:normal;text-align:left;min-width:24em}
.od-card .od-m td.od-z,.od-card .od-m td[class^="od-c"],.od-card .od-m td[class^="od-e"]{
text-align:center;border-radius:3px;min-width:34px;line-height:1.15;font-size:12px}
.od-card .od-m td.od-z{background:var(--sunken);color:var(--quiet)}
.od-card .od-m td small{display:block;font-size:10px}
.od-card svg{display:block}.od-card .od-rail{stroke:var(--line)}
.od-card .od-bar{stroke:var(--ink);stroke-width:2}.od-card .od-dot{fill:var(--ink)}
.od-card .od-base{stroke:var(--quiet);stroke-dasharray:2 2}
.od-card .od-out .od-bar{stroke:var(--error)}.od-card .od-out .od-dot{fill:var(--error)}
.od-card details{margin-top:8px}.od-card summary{color:var(--link);cursor:pointer}
.od-card .od-tiles{display:flex;flex-wrap:wrap;gap:6px 28px;margin:0 0 10px}
.od-card .od-tiles b{font-size:17px;margin-right:6px}
.od-card .od-tiles span{display:block;color:var(--quiet);font-size:12px}
"""

LONGEST_NAME = 32


def card(*parts: str) -> str:
    """One HTML fragment with the styles it needs; `parts` is HTML made by this package."""
    content = "".join(parts)
    return f'<div class="od-card"><style>{_STYLE.strip()}{_ramps(content)}</style>{content}</div>'


_STEP = re.compile(r'"od-([ce])(\d+)"')
_RAMP_OF: dict[str, Ramp] = {"c": "correct", "e": "error"}


def _ramps(content: str) -> str:
    """CSS rules for the steps of both colour ramps that occur in `content`."""
    rules = []
    for letter, step in sorted(set(_STEP.findall(content))):
        light, dark = (RAMPS[theme][_RAMP_OF[letter]][int(step)] for theme in ("light", "dark"))
        rules.append(
            f".od-card .od-m td.od-{letter}{step}{{background:light-dark({light},{dark});"
            f"color:light-dark({text_on(light)},{text_on(dark)})}}"
        )
    return "".join(rules)


def head(title: str, about: str = "", *, url: str | None = None, link: str = "Open run") -> str:
    """The first line: the title, facts about it, and a link if `url` is given."""
    anchor = "" if url is None else f'<a href="{escape(url)}">{escape(link)} ↗</a>'
    facts = f'<span class="od-q">{escape(about)}</span>' if about else ""
    return f'<div class="od-head"><b>{escape(title)}</b>{facts}{anchor}</div>'


def says(strong: str, rest: str = "", *, mark: str = "", is_warning: bool = False) -> str:
    """The sentence that states what the card shows."""
    kind = "od-say od-warn" if is_warning else "od-say"
    sign = f"<i>{mark}</i> " if mark else ""
    bold = f"<b>{escape(strong)}</b> " if strong else ""
    return f'<div class="{kind}">{f"{sign}{bold}{escape(rest)}".rstrip()}</div>'


def table(columns: Iterable[str], rows: Iterable[str], *, caption: str = "") -> str:
    """A table with ruled lines; `columns` and `rows` are cells and rows as HTML."""
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return (
        f'<table class="od-lines">{title}<thead><tr>{"".join(columns)}</tr></thead>'
        f"<tbody>{''.join(f'<tr>{row}</tr>' for row in rows)}</tbody></table>"
    )


def column(text: str, *, left: bool = False) -> str:
    """The header cell of a column of text or numbers."""
    return f'<th scope="col"{_left(left)}>{escape(text)}</th>'


def row_name(name: str) -> str:
    """The header cell of a class or a run, with its full name as title if it is shortened."""
    shown = shortened(name, longest=LONGEST_NAME)
    title = f' title="{escape(name)}"' if shown != name else ""
    return f'<th scope="row" class="od-l"{title}>{escape(shown)}</th>'


def cell(text: str, *, left: bool = False) -> str:
    """A cell with text or a number."""
    return f"<td{_left(left)}>{escape(text)}</td>"


def prose(*sentences: str) -> str:
    """A cell with sentences, which wrap."""
    return f'<td class="od-wrap">{escape(" ".join(sentences).strip())}</td>'


def _left(is_left: bool) -> str:
    return ' class="od-l"' if is_left else ""


_WIDTH, _HEIGHT, _MARGIN = 110, 16, 5


def mark(
    value: float,
    ends: tuple[float | None, float | None],
    *,
    low: float = 0.0,
    high: float = 1.0,
    baseline: float | None = None,
    stands_out: bool = False,
) -> str:
    """An SVG of a value with its interval on an axis from `low` to `high`.

    The value is a dot, or a diamond if it stands out, the interval a bar, and the baseline a
    dashed tick. `ends` are those of the interval; None draws that end at the value. Values outside
    the axis are drawn at its end.
    """
    middle = _HEIGHT / 2
    first, last = (value if end is None else end for end in ends)
    x = _x(value, low, high)
    dashes = ""
    if baseline is not None and low <= baseline <= high:
        tick = _x(baseline, low, high)
        dashes = f'<path class="od-base" d="M{tick} 1V{_HEIGHT - 1}"/>'
    bar = ""
    if first < last:
        bar = (
            f'<path class="od-bar" d="M{_x(first, low, high)} {middle:g}H{_x(last, low, high)}"/>'
        )
    dot = f'<circle class="od-dot" cx="{x}" cy="{middle:g}" r="3"/>'
    if stands_out:
        dot = f'<path class="od-dot" d="M{x} {middle - 4:g}l4 4-4 4-4-4z"/>'
    kind = ' class="od-out"' if stands_out else ""
    rail = f'<path class="od-rail" d="M{_MARGIN} {middle:g}H{_WIDTH - _MARGIN}"/>'
    size = f'width="{_WIDTH}" height="{_HEIGHT}"'
    return f'<svg {size} aria-hidden="true"{kind}>{rail}{dashes}{bar}{dot}</svg>'


def _x(value: float, low: float, high: float) -> str:
    share = min(1.0, max(0.0, (value - low) / (high - low)))
    return f"{_MARGIN + share * (_WIDTH - 2 * _MARGIN):.1f}".rstrip("0").rstrip(".")
