"""Where the cheapest run changes as one cost grows, as a chart and in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from offdiag.comparison.texts import run_label
from offdiag.domain.labels import LabelSet
from offdiag.metrics.costs.break_even import Lever, Stretch, lever_on_cell, times_the_cheapest
from offdiag.metrics.costs.edits import cost_text, written
from offdiag.metrics.costs.matrix import CostMatrix
from offdiag.services.what_if.costs import Choice, WhatIf
from offdiag.services.what_if.leads import HIGH, LOW, Leads
from offdiag.services.what_if.scenario import moved_cells
from offdiag_web.charts.flip_chart import FlipLine, StripPart, flip_axis, flip_chart
from offdiag_web.charts.marks import run_style
from offdiag_web.components import numbers
from offdiag_web.components.classes import quoted_name
from offdiag_web.components.controls import Option

_SHOWN_FROM, _SHOWN_TO = 1.0, 10_000.0
"""Flips outside this range are only described in words."""
_MOST_ERRORS = 12
RUN_AXIS = 0
_TOGETHER = "tested at all ratios together"
"""Unlike in the ranking, whose differences are tested at one ratio only."""


@dataclass(frozen=True, slots=True)
class ChoiceView:
    """The chart, its sentences, and its data as a table. `key` names the lines."""

    chart: Markup
    sentence: str
    what: str
    rows: tuple[tuple[str, str, str], ...]
    key: tuple[tuple[str, str], ...]


def choice_view(found: WhatIf) -> ChoiceView | None:
    """Present the choice; None if no cost can be varied, or there is nothing to choose."""
    choice, lever = found.choice, found.scenario.lever
    if choice is None or lever is None or len(choice.runs) < 2:
        return None
    letters = [run_label(place) for place in choice.runs]
    flips = [stretch.low for stretch in choice.stretches[1:]]
    shown = [x for x in flips if _SHOWN_FROM <= x <= _SHOWN_TO]
    shown += [lever.now] if 0.01 <= lever.now <= _SHOWN_TO else []
    axis = flip_axis(shown)
    times = times_the_cheapest(choice.rays, axis.at)
    sentence = flip_sentence(choice.stretches, letters)
    return ChoiceView(
        chart=flip_chart(
            [
                FlipLine(name, run_style(place), line)
                for name, place, line in zip(letters, choice.runs, times, strict=True)
            ],
            axis,
            flips=flips,
            now=lever.now,
            x_title=f"{_short(lever, found.scenario.costs.labels)} (logarithmic)",
            name=f"Cost of each run over the cheapest. {sentence}",
            strip=_strip(found, choice),
        ),
        sentence=sentence,
        what=lever_sentence(lever, found.scenario.effective),
        rows=tuple(
            (
                multiple(stretch.low),
                multiple(stretch.high),
                numbers.listed([letters[place] for place in stretch.cheapest]),
            )
            for stretch in choice.stretches
        ),
        key=tuple(
            (name, found.answers[place].run.name)
            for name, place in zip(letters, choice.runs, strict=True)
        ),
    )


def _strip(found: WhatIf, choice: Choice) -> tuple[StripPart, ...]:
    if found.leads is None:
        return ()
    return tuple(
        StripPart(
            lead.low, lead.high, run_style(choice.runs[lead.run]), lead.is_certain_throughout
        )
        for lead in found.leads.stretches
    )


def verdict(found: WhatIf) -> str | None:
    """Which run is cheapest at which ratio, as far as the paired intervals show."""
    choice, judged = found.choice, found.leads
    if choice is None or len(choice.runs) < 2:
        return None
    names = [
        f"{run_label(place)} {quoted_name(found.answers[place].run.name)}" for place in choice.runs
    ]
    if judged is None:
        has_one = found.frame.runs[0].matrix.total == 1
        reason = "There is one example" if has_one else "The runs cannot be paired"
        return f"{reason}, so whether one costs significantly less is not known."
    said = lead_sentence(judged, names)
    flips = [stretch.low for stretch in choice.stretches[1:]]
    return f"From {multiple(LOW)} to {multiple(HIGH)}: {said}" if _beyond(found, flips) else said


def _beyond(found: WhatIf, flips: Sequence[float]) -> bool:
    """Whether the page shows ratios for which the sentence does not hold."""
    lever = found.scenario.lever
    is_now_beyond = lever is not None and not LOW <= lever.now <= HIGH
    return is_now_beyond or any(HIGH < flip <= _SHOWN_TO for flip in flips)


def lead_sentence(judged: Leads, names: Sequence[str]) -> str:
    """ONE is cheapest up to 10×, OTHER above; says whether each is significant."""
    if len(judged.stretches) == 1:
        return _one_leads(judged, names)
    who = [names[lead.run] for lead in judged.stretches]
    are_certain = all(lead.is_certain for lead in judged.stretches)
    verb = "cheapest" if are_certain else "lowest"
    parts = [f"{who[0]} is {verb} up to {multiple(judged.stretches[0].high)}"]
    parts += [
        f"{name} up to {multiple(lead.high)}"
        for lead, name in zip(judged.stretches[1:-1], who[1:-1], strict=True)
    ]
    text = f"{', '.join([*parts, who[-1]])} above"
    leading = dict.fromkeys(names[lead.run] for lead in judged.stretches if lead.is_certain)
    if are_certain:
        return f"{text}."
    if judged.is_open:
        runs = "two" if len(set(who)) == 2 else numbers.count(len(set(who)))
        return f"{text}; {_TOGETHER}, the {runs} do not differ significantly."
    if leading:
        return f"{text}; only {numbers.listed(list(leading))} significantly."
    return f"{text}; none is significantly below all others."


def _one_leads(judged: Leads, names: Sequence[str]) -> str:
    (lead,) = judged.stretches
    name = names[lead.run]
    if lead.is_certain_throughout:
        return f"{name} is cheapest at every ratio."
    text = f"{name} is lowest at every ratio"
    if lead.is_certain:
        return f"{text}, significantly at some."
    if not judged.is_open:
        return f"{text}; not significantly below all others."
    runs = "two" if len(names) == 2 else numbers.count(len(names))
    return f"{text}; {_TOGETHER}, the {runs} do not differ significantly."


def slider_view(found: WhatIf) -> dict[str, object] | None:
    """Present the lever of the scenario; None if no cost can be varied."""
    lever = found.scenario.lever
    if lever is None:
        return None
    labels = found.scenario.costs.labels
    saved = found.scenario.base.costs
    actual = numbers.shortened(labels.names[lever.actual], longest=24)
    if lever.predicted is None:
        label = f"A missed {actual} costs"
    else:
        predicted = numbers.shortened(labels.names[lever.predicted], longest=24)
        label = f"A missed {actual}, predicted {predicted}, costs"
    return {
        "label": label,
        "what": lever_sentence(lever, found.scenario.effective),
        "value": cost_text(float(f"{lever.now:.6g}")),
        "lever": lever_text(lever, labels),
        "unit": cost_text(lever.unit),
        "cells": " ".join(
            f"w{one}.{other}:{cost_text(cost)}"
            for (one, other), cost in moved_cells(lever, saved, 1.0).items()
        ),
    }


def flip_sentence(stretches: Sequence[Stretch], letters: Sequence[str]) -> str:
    """Which run is cheapest from which multiple on."""
    cheapest = [
        numbers.listed([letters[place] for place in stretch.cheapest]) for stretch in stretches
    ]
    if len(stretches) == 1:
        verb = "is" if len(stretches[0].cheapest) == 1 else "are"
        return f"{cheapest[0]} {verb} cheapest at every multiple: the choice does not change."
    first = f"Up to {multiple(stretches[0].high)}: {cheapest[0]} cheapest"
    others = [
        f"from {multiple(stretch.low)}: {name}"
        for stretch, name in zip(stretches[1:], cheapest[1:], strict=True)
    ]
    return f"{'; '.join([first, *others])}."


def lever_sentence(lever: Lever, costs: CostMatrix) -> str:
    """Which cost is varied, what it is a multiple of, and its current value."""
    names = costs.labels.names
    actual = quoted_name(names[lever.actual])
    if lever.predicted is None:
        return (
            f"Multiplies the costs of all errors on {actual} in the table; other costs stay. "
            f"Now {multiple(lever.now)}."
        )
    predicted = quoted_name(names[lever.predicted])
    is_opposite = float(costs.weights[lever.predicted, lever.actual]) == lever.unit
    unit = (
        f"the opposite error, {predicted} predicted as {actual}"
        if is_opposite
        else "the cheapest other error"
    )
    return (
        f"The cost of predicting {predicted} for actual {actual}, as a multiple of {unit} "
        f"({cost_text(lever.unit)}). Now {multiple(lever.now)}."
    )


def _short(lever: Lever, labels: LabelSet) -> str:
    actual = numbers.shortened(labels.names[lever.actual], longest=14)
    if lever.predicted is None:
        return f"cost of all errors on {actual}"
    predicted = numbers.shortened(labels.names[lever.predicted], longest=14)
    return f"cost of {actual} predicted as {predicted}"


def multiple(x: float) -> str:
    """ "4.6×"."""
    return f"{_number(x)}×"


def _number(x: float) -> str:
    """Three significant digits, without an exponent."""
    if x >= 1000:
        return f"{x:,.0f}"
    text = f"{x:.3g}"
    return f"{x:.7f}".rstrip("0") if "e" in text else text


def lever_choices(found: WhatIf, order: Sequence[int]) -> tuple[Option, ...]:
    """Costs that can be varied: the default, the most expensive errors, and all errors on a class.

    The default changes with the costs; choosing another one fixes it.
    """
    labels = found.scenario.costs.labels
    current = found.scenario.lever
    is_stated = found.scenario.lever_is_stated
    stated = lever_text(current, labels) if current is not None and is_stated else None
    cells = dict.fromkeys(_most_expensive_errors(found))
    if current is not None and current.predicted is not None:
        cells.setdefault((current.actual, current.predicted))
    options = [
        Option(
            value := f"{written(labels.names[actual])}>{written(labels.names[predicted])}",
            f"{labels.names[actual]} predicted as {labels.names[predicted]}",
            value == stated,
        )
        for actual, predicted in cells
    ]
    return (
        Option("", "the most expensive error", is_chosen=stated is None),
        *options,
        *(
            Option(
                value := f"{written(labels.names[code])}>*",
                f"all errors on {labels.names[code]}",
                value == stated,
            )
            for code in order
        ),
    )


def lever_text(lever: Lever, labels: LabelSet) -> str:
    """The lever as written in an address."""
    predicted = "*" if lever.predicted is None else written(labels.names[lever.predicted])
    return f"{written(labels.names[lever.actual])}>{predicted}"


def _most_expensive_errors(found: WhatIf) -> list[tuple[int, int]]:
    """The most expensive errors that any run made and whose cost can be varied."""
    costs = found.scenario.effective
    counts = np.stack([run.matrix.counts for run in found.frame.runs], axis=RUN_AXIS)
    occurring = [
        (int(actual), int(predicted))
        for actual, predicted in np.argwhere(counts.any(axis=RUN_AXIS))
        if lever_on_cell(costs, int(actual), int(predicted)) is not None
    ]
    return sorted(occurring, key=lambda cell: (-costs.weights[cell], cell))[:_MOST_ERRORS]
