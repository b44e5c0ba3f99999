"""Basics of charts of shares: a frame, axes with ticks, and lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from offdiag_web.charts.marks import RunStyle
from offdiag_web.charts.svg import Scale, coordinate, tidy_at_least, words

QUARTERS = (("0", 0.0), ("0.25", 0.25), ("0.5", 0.5), ("0.75", 0.75), ("1", 1.0))
ENDS = (("0", 0.0), ("1", 1.0))

Tick = tuple[str, float]


@dataclass(frozen=True, slots=True)
class Frame:
    """The plotting area of a picture, in CSS pixels; shares go right and up."""

    left: int
    top: int
    width: int
    height: int

    @property
    def right(self) -> int:
        return self.left + self.width

    @property
    def bottom(self) -> int:
        return self.top + self.height

    @property
    def area(self) -> tuple[int, int, int, int]:
        """Left, top, width and height."""
        return self.left, self.top, self.width, self.height

    def x(self, share: float) -> float:
        """Horizontal position of a share in 0..1."""
        return self.left + share * self.width

    def y(self, share: float) -> float:
        """Vertical position of a share in 0..1, upwards."""
        return self.bottom - share * self.height


def box(frame: Frame) -> str:
    return (
        f'<rect class="frame" x="{frame.left}" y="{frame.top}" '
        f'width="{frame.width}" height="{frame.height}"/>'
    )


def grid(frame: Frame, *, across: Sequence[Tick] = (), up: Sequence[Tick] = ()) -> str:
    """Faint lines at the inner ticks, as one element."""
    inner = [f"M{coordinate(frame.x(at))} {frame.top}V{frame.bottom}" for _, at in across]
    inner += [f"M{frame.left} {coordinate(frame.y(at))}H{frame.right}" for _, at in up]
    return f'<path class="grid" d="{"".join(inner)}"/>' if inner else ""


def ticks_across(frame: Frame, ticks: Iterable[Tick]) -> list[str]:
    """Tick labels below the frame; the outer ones are kept inside the picture."""
    return [
        words(
            text,
            x=frame.x(at),
            y=frame.bottom + 15,
            css_class="tick",
            anchor="end" if at == 1 else "start" if at == 0 else "middle",
        )
        for text, at in ticks
    ]


def ticks_up(frame: Frame, ticks: Iterable[Tick]) -> list[str]:
    """Tick labels left of the frame."""
    return [
        words(text, x=frame.left - 5, y=frame.y(at) + 4, css_class="tick", anchor="end")
        for text, at in ticks
    ]


def ticks_of(scale: Scale) -> list[Tick]:
    """Round values of an axis, about six of them, each with its position."""
    step = tidy_at_least(float(scale.high - scale.low) / 6)
    at = (scale.low / step).to_integral_value(rounding="ROUND_CEILING") * step
    found = []
    while at <= scale.high:
        text = format(at.normalize() + 0, "f").replace("-", "\N{MINUS SIGN}")
        found.append((text, scale.fraction(float(at))))
        at += step
    return found


def name_across(frame: Frame, text: str, *, below: float = 31) -> str:
    """The name of the axis, at a distance below the frame."""
    middle, y = frame.left + frame.width / 2, frame.bottom + below
    return words(text, x=middle, y=y, css_class="axis-name", anchor="middle")


def name_up(frame: Frame, text: str) -> str:
    """The name of the y-axis, above the frame, where it need not be turned."""
    return words(text, x=0, y=frame.top - 11, css_class="axis-name")


def line(frame: Frame, points: Iterable[tuple[float, float]], css_class: str) -> str:
    """Points of shares, connected by straight lines."""
    path = _path(frame, points, steps=False)
    return f'<path class="{css_class}" d="{path}"/>' if path else ""


def step_line(frame: Frame, points: Iterable[tuple[float, float]], css_class: str) -> str:
    """Points of shares, connected by steps: up or down to the height of each, then right to it."""
    path = _path(frame, points, steps=True)
    return f'<path class="{css_class}" d="{path}"/>' if path else ""


def band(frame: Frame, ends: Sequence[tuple[float, float, float]], css_class: str) -> str:
    """The area between a low and a high share at each place: (across, low, high)."""
    corners = [(across, high) for across, _, high in ends]
    corners += [(across, low) for across, low, _ in reversed(ends)]
    path = "L".join(f"{coordinate(frame.x(x))} {coordinate(frame.y(y))}" for x, y in corners)
    return f'<path class="{css_class}" d="M{path}Z"/>'


def lines_of_runs(
    frame: Frame,
    lines: Sequence[tuple[str, RunStyle, Sequence[tuple[float, float]]]],
    *,
    steps: bool = False,
) -> str:
    """The lines of runs, distinguished by dashes and by letters, each on its own line."""
    parts = []
    for place, (letter, style, points) in enumerate(lines):
        path = _path(frame, points, steps=steps)
        if not path:
            continue
        dash = f' stroke-dasharray="{style.dash}"' if style.dash else ""
        css_class = f"run-line {style.css_class}"
        parts.append(f'<path class="{css_class}" data-series="{letter}"{dash} d="{path}"/>')
        # Letters keep apart from each other, so that they stay readable where lines meet.
        wanted = (place + 1) / (len(lines) + 1)
        across, up = min(points, key=lambda point: abs(point[0] - wanted))
        parts.append(
            words(
                letter,
                x=frame.x(across),
                y=frame.y(up) + 5,
                css_class=f"run-letter {style.css_class}",
                anchor="middle",
            )
        )
    return "".join(parts)


def _path(frame: Frame, points: Iterable[tuple[float, float]], *, steps: bool) -> str:
    """Path data in which a vertical or horizontal stretch is a single command."""
    pen: _Pen | None = None
    for across, up in points:
        x, y = coordinate(frame.x(across)), coordinate(frame.y(up))
        if pen is None:
            pen = _Pen(x, y)
        elif steps or x == pen.x or y == pen.y:
            pen.up_or_down(y)
            pen.right_or_left(x)
        else:
            pen.straight(x, y)
    return "" if pen is None or len(pen.commands) < 2 else "".join(pen.commands)


class _Pen:
    """The current point of a path, in printed coordinates, and the commands that lead to it."""

    def __init__(self, x: str, y: str) -> None:
        self.x, self.y = x, y
        self.commands = [f"M{x} {y}"]
        self._going = ""

    def up_or_down(self, y: str) -> None:
        if y != self.y:
            self._go("V", y, is_forward=float(y) > float(self.y))
            self.y = y

    def right_or_left(self, x: str) -> None:
        if x != self.x:
            self._go("H", x, is_forward=float(x) > float(self.x))
            self.x = x

    def straight(self, x: str, y: str) -> None:
        self.commands.append(f"L{x} {y}")
        self.x, self.y, self._going = x, y, ""

    def _go(self, command: str, to: str, *, is_forward: bool) -> None:
        going = f"{command}{is_forward}"
        if going == self._going:
            # In the same direction: the point of the last command is on the way to this one.
            self.commands.pop()
        self.commands.append(f"{command}{to}")
        self._going = going


def ring(frame: Frame, across: float, up: float, text: str, *, radius: int = 5) -> str:
    """A ring around a point, with its text on the side that has room."""
    x, y = frame.x(across), frame.y(up)
    drawn = f'<circle class="ring" cx="{coordinate(x)}" cy="{coordinate(y)}" r="{radius}"/>'
    line = min(max(y + 4, frame.top + 12), frame.bottom - 4)
    return drawn + beside(frame, across, text, y=line, gap=radius + 4) if text else drawn


def beside(frame: Frame, across: float, text: str, *, y: float, gap: float = 4) -> str:
    """A text on the side of a point or of an upright line that has room."""
    is_left = across <= 0.6
    x = frame.x(across) + (gap if is_left else -gap)
    return words(text, x=x, y=y, css_class="direct", anchor="start" if is_left else "end")
