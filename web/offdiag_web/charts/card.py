"""A card for slides: title, what was measured, key numbers with intervals, and a matrix.

It is a standalone SVG document, 1200 by 675 pixels on a light background, and needs neither a
stylesheet nor fonts that some machines lack.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import escape

from offdiag.domain.texts import shortened
from offdiag_web.charts.matrix_picture import FONT, Picture
from offdiag_web.charts.svg import coordinate

WIDTH, HEIGHT = 1_200, 675
_MARGIN = 48
_INK, _QUIET, _LINE, _PAGE = "#16202c", "#4c5967", "#d5dce3", "#ffffff"
_TOP, _BOTTOM = 204, HEIGHT - 60
_GAP = 36
_LETTER, _BOLD = 0.56, 0.64
"""Average width of a letter relative to the font size."""
_LARGEST_SCALE = 1.6
_TITLE, _FITS_TITLE = 34, 44
_SMALL_TITLE, _LONGEST_TITLE = 24, 72
_SUBTITLE, _LONGEST_SUBTITLE = 19, 104
_SAID, _SAID_ON_A_LINE, _MOST_LINES = 21, 84, 2
_LONGEST_FOOT = 140


@dataclass(frozen=True, slots=True)
class CardTable:
    """Rows of numbers below heads; the first column is text, column `strong` is emphasised."""

    heads: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    strong: int = 1


@dataclass(frozen=True, slots=True)
class Card:
    """The content of a card. `picture` is the matrix, `picture_title` says what it shows."""

    title: str
    subtitle: str
    statement: str
    table: CardTable
    picture: Picture | None
    picture_title: str
    foot: str


def card_svg(card: Card) -> str:
    """The card as an SVG document; all names in it are escaped."""
    size = f'width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="{FONT}">'
        f"<title>{escape(card.title)}</title>"
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{_PAGE}"/>'
        f"{''.join(_parts(card))}</svg>\n"
    )


def _parts(card: Card) -> Iterator[str]:
    title = shortened(card.title, longest=_LONGEST_TITLE)
    size = _TITLE if len(title) <= _FITS_TITLE else _SMALL_TITLE
    yield _text(_MARGIN, 70, title, size, weight=700)
    subtitle = shortened(card.subtitle, longest=_LONGEST_SUBTITLE)
    yield _text(_MARGIN, 102, subtitle, _SUBTITLE, colour=_QUIET)
    said = textwrap.wrap(card.statement, _SAID_ON_A_LINE, max_lines=_MOST_LINES, placeholder=" …")
    for line, text in enumerate(said):
        yield _text(_MARGIN, 142 + 28 * line, text, _SAID, weight=600)
    columns = _columns(card.table)
    yield from _table(card.table, columns)
    if card.picture is not None:
        left = columns[-1] + _GAP
        yield _text(left, _TOP, card.picture_title, 17, colour=_QUIET)
        yield _fitted(card.picture, left, _TOP + 12)
    yield f'<path stroke="{_LINE}" d="M{_MARGIN} {HEIGHT - 48}H{WIDTH - _MARGIN}"/>'
    foot = shortened(card.foot, longest=_LONGEST_FOOT)
    yield _text(_MARGIN, HEIGHT - 22, foot, 15, colour=_QUIET)


def _sizes(table: CardTable) -> list[int]:
    """Font size of each column."""
    is_roomy = len(table.rows) <= 6 and len(table.heads) <= 3
    strong, plain = (28, 19) if is_roomy else (21, 17)
    return [strong if column == table.strong else plain for column in range(len(table.heads))]


def _columns(table: CardTable) -> list[float]:
    """The left edge of the first column and the right edges of the others."""
    ends = [float(_MARGIN)]
    right = float(_MARGIN)
    for column, size in enumerate(_sizes(table)):
        texts = [row[column] for row in table.rows]
        letter = size * (_BOLD if column == table.strong else _LETTER)
        longest = max((len(text) * letter for text in texts), default=0.0)
        right += max(longest, len(table.heads[column]) * 16 * _LETTER) + 16
        if column:
            ends.append(right)
    return ends


def _table(table: CardTable, columns: Sequence[float]) -> Iterator[str]:
    step = min(62.0, (_BOTTOM - _TOP) / (len(table.rows) + 1))
    for at, head in zip(columns, table.heads, strict=True):
        yield _text(at, _TOP, head, 16, colour=_QUIET, at_end=at != columns[0])
    for line, row in enumerate(table.rows, start=1):
        y = _TOP + line * step
        rule = coordinate(y - step + 12)
        yield f'<path stroke="{_LINE}" d="M{_MARGIN} {rule}H{coordinate(columns[-1])}"/>'
        for column, (at, text, size) in enumerate(zip(columns, row, _sizes(table), strict=True)):
            is_strong = column == table.strong
            yield _text(
                at,
                y - step / 2 + 12 + size / 3,
                text,
                size,
                colour=_INK if column == 0 or is_strong else _QUIET,
                weight=700 if is_strong else 400,
                at_end=column > 0,
            )


def _fitted(picture: Picture, left: float, top: float) -> str:
    """The picture, scaled to the available room, at its position."""
    scale = min(
        _LARGEST_SCALE,
        (WIDTH - _MARGIN - left) / picture.width,
        (_BOTTOM - top) / picture.height,
    )
    place = f'x="{coordinate(left)}" y="{coordinate(top)}"'
    size = (
        f'width="{coordinate(picture.width * scale)}" '
        f'height="{coordinate(picture.height * scale)}"'
    )
    box = f'viewBox="0 0 {coordinate(picture.width)} {coordinate(picture.height)}"'
    return f'<svg {place} {size} {box} font-size="13">{picture.content}</svg>'


def _text(
    x: float,
    y: float,
    text: str,
    size: int,
    *,
    colour: str = _INK,
    weight: int = 400,
    at_end: bool = False,
) -> str:
    anchor = ' text-anchor="end"' if at_end else ""
    return (
        f'<text x="{coordinate(x)}" y="{coordinate(y)}" font-size="{size}" fill="{colour}" '
        f'font-weight="{weight}"{anchor}>{escape(text)}</text>'
    )


def map_picture(png: str, side: int, *, down: str, across: str) -> Picture:
    """A map of many classes, a base64 PNG of `side` pixels, with names on both axes."""
    middle = coordinate(30 + side / 2)
    return Picture(
        f'<text x="{middle}" y="16" text-anchor="middle" font-weight="600">{escape(across)} →'
        f'</text><text transform="translate(18 {middle}) rotate(-90)" text-anchor="middle" '
        f'font-weight="600">← {escape(down)}</text><image x="28" y="26" width="{side}" '
        f'height="{side}" href="data:image/png;base64,{png}"/>',
        side + 32,
        side + 30,
    )
