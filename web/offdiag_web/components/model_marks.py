"""Marks that distinguish the models of a dataset: a colour, a shape and, beyond four, a letter.

They follow the order in which models were first logged, so a model looks the same on every page of
its dataset. Styles take the colour from the property `--model`, which the classes set; runs
without a model share a colour of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from markupsafe import Markup, escape

from offdiag.domain.texts import shortened
from offdiag_web.charts.marks import Shape, marker
from offdiag_web.charts.svg import drawing, words

MODEL_SHAPES: tuple[Shape, ...] = ("circle", "square", "diamond", "triangle")
_LETTERS = "bcdefghijklmnopqrstuvwxyz"
_SIDE = 14
_LONGEST_NAME, _NAME_HEIGHT = 22, 14


@dataclass(frozen=True, slots=True)
class ModelMark:
    """The look of a model; `letter` distinguishes models of equal shape, "" for the first."""

    name: str | None
    shape: Shape
    letter: str
    css_class: str


NO_MODEL = ModelMark(None, "circle", "", "model-none")


def model_marks(models: Iterable[str | None]) -> Mapping[str | None, ModelMark]:
    """The marks of models in the order of their first runs; None always has the same one."""
    named = [model for model in models if model is not None]
    marks: dict[str | None, ModelMark] = {
        model: ModelMark(
            model,
            MODEL_SHAPES[place % len(MODEL_SHAPES)],
            _letter(place // len(MODEL_SHAPES)),
            f"model-{place % len(MODEL_SHAPES) + 1}",
        )
        for place, model in enumerate(named)
    }
    return {None: NO_MODEL, **marks}


def _letter(round_of_shapes: int) -> str:
    if round_of_shapes == 0:
        return ""
    times, place = divmod(round_of_shapes - 1, len(_LETTERS))
    return _LETTERS[place] * (times + 1)


def model_point(mark: ModelMark, x: float, y: float, *, size: float = 4.5) -> str:
    """The shape of a model around a point of a chart, with its letter."""
    return model_shape(mark, x, y, size=size) + model_letter(mark, x, y, size=size)


def model_shape(mark: ModelMark, x: float, y: float, *, size: float) -> str:
    """Only the shape, for links, in which a letter would be the visible name."""
    return f'<g class="{escape(mark.css_class)}">{marker(mark.shape, x, y, size=size)}</g>'


def model_letter(mark: ModelMark, x: float, y: float, *, size: float) -> str:
    """The letter beside the shape, "" for a model without one."""
    if not mark.letter:
        return ""
    letter = words(mark.letter, x=x + size + 1, y=y + 3, css_class="letter")
    return f'<g class="{escape(mark.css_class)}">{letter}</g>'


def model_key(mark: ModelMark) -> Markup:
    """The mark by itself, for legends and beside the name of a run."""
    return drawing(
        model_point(mark, _SIDE / 2, _SIDE / 2),
        width=_SIDE + (8 * len(mark.letter)),
        height=_SIDE,
        css_class="mark model-mark",
        name=f"model {mark.name}" if mark.name else "no model",
    )


def names_at_ends(
    ends: Iterable[tuple[ModelMark, float]], *, x: float, lowest: float
) -> list[str]:
    """Names beside the ends of lines at heights `y`, moved apart from top to bottom."""
    written, free = [], 0.0
    for mark, wanted in sorted(ends, key=lambda end: end[1]):
        y = max(wanted + 4, free)
        free = y + _NAME_HEIGHT
        if y > lowest:
            break
        text = shortened(mark.name or "no model", longest=_LONGEST_NAME)
        label = words(text, x=x, y=y, css_class="model-name")
        written.append(f'<g class="{escape(mark.css_class)}">{label}</g>')
    return written
