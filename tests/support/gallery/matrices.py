"""The page of the gallery with matrices: few and many classes, in groups, and in odd states."""

from __future__ import annotations

import base64
from dataclasses import dataclass, replace

from offdiag.domain.hierarchy import Hierarchy
from offdiag.metrics.confusion import ConfusionMatrix, collapsed
from offdiag.palette import Theme
from offdiag_web.components.classes import Grouping, window_around
from offdiag_web.components.controls import Tab
from offdiag_web.components.matrix import MatrixView, matrix_view
from offdiag_web.pages.run_matrix.drawings import matrix_map
from offdiag_web.urls.run import MatrixAddress
from support.gallery import examples
from support.gallery.addresses import pages

_ADDRESS = MatrixAddress("r_gallery")
_MAPPED_CLASSES = 100
_THEMES: tuple[Theme, ...] = ("light", "dark")


@dataclass(frozen=True, slots=True)
class MapExample:
    """A map of a matrix as a picture in the page."""

    name: str
    source: str
    side: int


@dataclass(frozen=True, slots=True)
class MatricesView:
    """Tables with what each shows, and maps of more classes than a table takes."""

    pages: tuple[Tab, ...]
    tables: tuple[tuple[str, MatrixView], ...]
    maps: tuple[MapExample, ...]


def matrices_view() -> MatricesView:
    """Everything, made anew for each request; nothing here is read from a database."""
    return MatricesView(pages("matrices"), _tables(), maps())


def _tables() -> tuple[tuple[str, MatrixView], ...]:
    lesions = examples.skin_lesions()
    return (
        ("3 classes, one absent", matrix_view(examples.always_the_same(), _ADDRESS)),
        ("share of the actual class", matrix_view(lesions, _ADDRESS)),
        (
            "counts, transposed view",
            matrix_view(lesions, replace(_ADDRESS, norm="none", transposed=True)),
        ),
        ("in groups", _grouped(lesions, ())),
        ("with a group collapsed", _grouped(lesions, ("malignant",))),
        ("no error ramp", matrix_view(examples.many_classes(1), _ADDRESS)),
        ("hostile names", matrix_view(examples.hostile(), _ADDRESS)),
        ("10 classes", matrix_view(examples.many_classes(10), _ADDRESS)),
        ("30 classes", matrix_view(examples.many_classes(30), _ADDRESS)),
        ("window of 100 classes", _window(examples.many_classes(100))),
    )


def _window(matrix: ConfusionMatrix) -> MatrixView:
    return matrix_view(matrix, _ADDRESS, window_around(matrix, 3))


def _grouped(matrix: ConfusionMatrix, names: tuple[str, ...]) -> MatrixView:
    groups = {
        "growth": {"malignant": ["mel", "bcc"], "benign": ["nv", "bkl", "df"]},
        "vessels": ["vasc"],
    }
    hierarchy = Hierarchy.declared(groups, matrix.labels)
    grouping = Grouping.of(matrix.labels, hierarchy, names)
    return matrix_view(
        collapsed(matrix, grouping.collapse), replace(_ADDRESS, collapse=names), grouping=grouping
    )


def maps() -> tuple[MapExample, ...]:
    """The map of many classes in both themes."""
    matrix = examples.many_classes(_MAPPED_CLASSES)
    found = []
    for theme in _THEMES:
        picture = base64.b64encode(matrix_map(matrix, _ADDRESS, theme=theme)).decode("ascii")
        found.append(
            MapExample(
                f"{_MAPPED_CLASSES} classes, {theme}",
                f"data:image/png;base64,{picture}",
                side=2 * _MAPPED_CLASSES,
            )
        )
    return tuple(found)
