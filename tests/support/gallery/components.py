"""The page of the gallery with marks, chips, call-outs, controls and tiles."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from markupsafe import Markup

from offdiag.domain.orientation import OrientationVerdict, SourceOrientation
from offdiag.domain.runs import RunState
from offdiag_web.app.context import current_registry
from offdiag_web.charts.marks import IN_PANEL, IN_TILE, interval_mark, share_bar
from offdiag_web.charts.svg import SIGNED_UNIT, UNIT, Extent
from offdiag_web.components.controls import (
    Caution,
    Chip,
    Segment,
    Tab,
    orientation_chip,
    orientation_warning,
    state_chip,
)
from offdiag_web.components.metric_values import Notes, ShownValue
from offdiag_web.components.tiles import Tile, headline
from offdiag_web.pages.run_matrix.page import norm_segments
from offdiag_web.urls.run import MatrixAddress
from support.gallery import examples
from support.gallery.addresses import pages

_ADDRESS = MatrixAddress("r_gallery")


@dataclass(frozen=True, slots=True)
class ComponentsView:
    """One example of each component in each of its states, named."""

    marks: tuple[tuple[str, Markup], ...]
    bars: tuple[tuple[str, Markup], ...]
    chips: tuple[Chip, ...]
    cautions: tuple[Caution, ...]
    notices: tuple[str, ...]
    segments: tuple[Segment, ...]
    tabs: tuple[Tab, ...]
    values: tuple[ShownValue, ...]
    notes: tuple[str, ...]
    tiles: tuple[Tile, ...]
    moment: datetime
    pages: tuple[Tab, ...]


def components_view() -> ComponentsView:
    """Everything, made anew for each request; nothing here is read from a database."""
    notes = Notes()
    tiles = tuple(
        tile
        for matrix in (examples.skin_lesions(), examples.always_the_same(), examples.hostile())
        for tile in headline(examples.evaluated(matrix), notes).tiles
    )
    return ComponentsView(
        marks=_marks(),
        bars=_bars(),
        chips=(*_state_chips(), *_orientation_chips()),
        cautions=_cautions(),
        notices=("There is no scale “log”; use fit or full.", examples.HOSTILE_NAMES[0]),
        segments=norm_segments(_ADDRESS),
        tabs=(Tab("Matrix", "#matrix", is_current=True), Tab("Classes", "#c", is_current=False)),
        values=(ShownValue("0.864"), ShownValue("undefined", 1), ShownValue("not computed")),
        notes=tuple(notes.texts),
        tiles=tiles,
        moment=current_registry().database.clock(),
        pages=pages("components"),
    )


def _marks() -> tuple[tuple[str, Markup], ...]:
    inside = Extent(0.6, 0.5, 0.7)
    return (
        ("with interval", interval_mark(inside, scale=UNIT, name="with interval")),
        ("baseline", interval_mark(inside, scale=UNIT, name="with baseline", baseline=0.4)),
        ("no interval", interval_mark(Extent(0.6), scale=UNIT, name="without interval")),
        ("stands out", interval_mark(inside, scale=UNIT, name="stands out", stands_out=True)),
        ("at an end", interval_mark(Extent(1.0, 0.9, 1.0), scale=UNIT, name="at the end")),
        ("beyond left", interval_mark(Extent(-0.2, -0.4, 0.1), scale=UNIT, name="beyond left")),
        ("beyond right", interval_mark(Extent(1.2), scale=UNIT, name="beyond right")),
        ("tile", interval_mark(inside, scale=SIGNED_UNIT, name="in a tile", canvas=IN_TILE)),
        ("panel", interval_mark(inside, scale=UNIT, name="in a panel", canvas=IN_PANEL)),
    )


def _bars() -> tuple[tuple[str, Markup], ...]:
    return (
        ("nothing", share_bar(0.0, name="0 %")),
        ("next to nothing", share_bar(0.0001, name="<1 %")),
        ("half", share_bar(0.5, name="50 %")),
        ("all", share_bar(1.0, name="100 %")),
        ("error", share_bar(0.34, name="34 %", tone="error")),
    )


def _state_chips() -> tuple[Chip, ...]:
    states = (
        (RunState.OPEN, None),
        (RunState.FINISHED, None),
        (RunState.FINISHED, examples.work("todo")),
        (RunState.FINISHED, examples.work("doing")),
        (RunState.FAILED, examples.work("dead", "Traceback\nValueError: wrong shape")),
    )
    return tuple(
        state_chip(state, work=work, n_predictions=1_503, now=examples.NOW)
        for state, work in states
    )


def _orientation_chips() -> tuple[Chip, ...]:
    uploaded = SourceOrientation.ACTUAL_COLUMNS
    return (
        orientation_chip(SourceOrientation.PREDICTIONS, None),
        *(orientation_chip(uploaded, verdict) for verdict in OrientationVerdict),
    )


def _cautions() -> tuple[Caution, ...]:
    found = [
        orientation_warning(SourceOrientation.ACTUAL_ROWS, verdict)
        for verdict in OrientationVerdict
    ]
    return tuple(caution for caution in found if caution is not None)
