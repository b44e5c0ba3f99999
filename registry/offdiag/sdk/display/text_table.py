"""Tables of text that fit a terminal."""

from __future__ import annotations

from collections.abc import Container, Sequence

from offdiag.domain.texts import shortened

WIDTH = 79


def aligned(
    head: Sequence[str], rows: Sequence[Sequence[str]], *, right: Container[int] = ()
) -> list[str]:
    """Lines of a table; the first column is cut so that they are at most `WIDTH` wide.

    `right` has the columns whose texts end at the same place.
    """
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    widths[0] = max(8, min(widths[0], WIDTH - sum(widths[1:]) - 2 * (len(widths) - 1)))
    lines = []
    for first, *others in [head, *rows]:
        cells = [shortened(first, longest=widths[0]), *others]
        said = [
            text.rjust(width) if column in right else text.ljust(width)
            for column, (text, width) in enumerate(zip(cells, widths, strict=True))
        ]
        lines.append("  ".join(said).rstrip())
    return lines
