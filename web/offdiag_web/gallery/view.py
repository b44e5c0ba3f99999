"""What the gallery shows."""

from __future__ import annotations

from dataclasses import dataclass, replace

from markupsafe import Markup

from offdiag.domain.orientation import OrientationVerdict, SourceOrientation
from offdiag.domain.runs import RunState
from offdiag_web.addresses.matrix import MatrixAddress
from offdiag_web.charts.bar import share_bar
from offdiag_web.charts.interval import IN_PANEL, IN_TILE, interval_mark
from offdiag_web.charts.scale import SIGNED_UNIT, UNIT, Extent
from offdiag_web.gallery import examples
from offdiag_web.gallery.charts import ChartExamples, MapExample, charts, maps
from offdiag_web.gallery.curves import score_charts
from offdiag_web.presenters.chips import (
    Caution,
    Chip,
    orientation_chip,
    orientation_warning,
    state_chip,
)
from offdiag_web.presenters.headline import Tile, headline
from offdiag_web.presenters.matrix import MatrixView, matrix_view
from offdiag_web.presenters.matrix_controls import norm_segments
from offdiag_web.presenters.matrix_window import window_around
from offdiag_web.presenters.run_header import Tab
from offdiag_web.presenters.segments import Segment
from offdiag_web.presenters.times import Moment, moment
from offdiag_web.presenters.values import Notes, ShownValue

_ADDRESS = MatrixAddress("r_gallery")


@dataclass(frozen=True, slots=True)
class GalleryView:
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
    moment: Moment
    matrices: tuple[tuple[str, MatrixView], ...]
    charts: tuple[tuple[str, Markup], ...]
    drawings: tuple[ChartExamples, ...]
    maps: tuple[MapExample, ...]


def gallery_view() -> GalleryView:
    """Everything, made anew for each request; nothing here is read from a database."""
    notes = Notes()
    tiles = tuple(
        tile
        for results in (
            examples.skin_lesions(),
            examples.always_the_same(),
            examples.hostile(),
        )
        for tile in headline(results, notes).tiles
    )
    return GalleryView(
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
        moment=moment(examples.NOW, now=examples.NOW),
        matrices=_matrices(),
        charts=score_charts(),
        drawings=charts(),
        maps=maps(),
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


def _matrices() -> tuple[tuple[str, MatrixView], ...]:
    lesions = examples.skin_lesions().matrix
    large = examples.many_classes(40).matrix
    return (
        ("share of the actual class", matrix_view(lesions, _ADDRESS)),
        ("share of the predicted class", matrix_view(lesions, replace(_ADDRESS, norm="col"))),
        ("share of all", matrix_view(lesions, replace(_ADDRESS, norm="all"))),
        ("counts", matrix_view(lesions, replace(_ADDRESS, norm="none"))),
        ("transposed view", matrix_view(lesions, replace(_ADDRESS, transposed=True))),
        ("no error ramp", matrix_view(examples.many_classes(1).matrix, _ADDRESS)),
        ("absent class", matrix_view(examples.always_the_same().matrix, _ADDRESS)),
        ("hostile names", matrix_view(examples.hostile().matrix, _ADDRESS)),
        ("dense", matrix_view(examples.many_classes(14).matrix, _ADDRESS)),
        ("window", matrix_view(large, _ADDRESS, window_around(large, 3))),
    )
