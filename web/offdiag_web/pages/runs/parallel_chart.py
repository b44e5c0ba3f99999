"""Parallel coordinates: an axis for each parameter and metric, a line for each run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from offdiag_web.charts.svg import coordinate, drawing, words
from offdiag_web.components.model_marks import ModelMark

WIDTH, HEIGHT = 1180, 300
_SIDE, _TOP, _BOTTOM = 70, 40, 12


@dataclass(frozen=True, slots=True)
class ParallelAxis:
    """An axis with what is printed beside it, each at a share of its height."""

    title: str
    ticks: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class ParallelLine:
    """A run with its place on each axis as a share in 0..1, None where it has no value."""

    run_id: str
    name: str
    model: ModelMark
    places: tuple[float | None, ...]


def parallel_chart(
    axes: Sequence[ParallelAxis], lines: Sequence[ParallelLine], *, name: str
) -> Markup:
    """Draw every line over all axes; where a value is missing the line has a gap.

    Axes carry their place in `data-x`, lines their run and places, for those who choose ranges.
    """
    return drawing(
        *(_line(line, len(axes)) for line in lines),
        *(part for place, axis in enumerate(axes) for part in _axis(axis, place, len(axes))),
        width=WIDTH,
        height=HEIGHT,
        css_class="parallel",
        name=name,
    )


def _axis(axis: ParallelAxis, place: int, n_axes: int) -> Iterator[str]:
    x = _x(place, n_axes)
    top, bottom = coordinate(_y(1)), coordinate(_y(0))
    yield (
        f'<path class="axis" data-axis="{place}" data-x="{coordinate(x)}" '
        f'data-top="{top}" data-bottom="{bottom}" d="M{coordinate(x)} {top}V{bottom}"/>'
    )
    yield words(axis.title, x=x, y=_TOP - 18, css_class="axis-name", anchor="middle")
    for text, share in axis.ticks:
        yield words(text, x=x + 6, y=_y(share) + 4, css_class="tick")


def _line(line: ParallelLine, n_axes: int) -> str:
    path, is_down = [], False
    for place, share in enumerate(line.places):
        if share is not None:
            path.append(
                f"{'L' if is_down else 'M'}{coordinate(_x(place, n_axes))} {coordinate(_y(share))}"
            )
        is_down = share is not None
    places = ",".join("" if share is None else coordinate(share * 100) for share in line.places)
    return (
        f'<path class="run-line {escape(line.model.css_class)}" data-run="{escape(line.run_id)}" '
        f'data-places="{places}" d="{"".join(path)}"><title>{escape(line.name)}</title></path>'
    )


def _x(place: int, n_axes: int) -> float:
    room = WIDTH - 2 * _SIDE
    return _SIDE + (room / 2 if n_axes == 1 else place * room / (n_axes - 1))


def _y(share: float) -> float:
    return _TOP + (1 - share) * (HEIGHT - _TOP - _BOTTOM)
