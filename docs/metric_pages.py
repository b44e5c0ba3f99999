"""The pages under docs/metrics: what every metric key means, from the catalogue."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

import numpy as np

from offdiag.domain.values import MetricValue
from offdiag.metrics.catalogue import (
    CATALOGUE,
    DIRECTION_WORDS,
    SCOPE_TITLES,
    SPECS,
    MetricSpec,
    Scope,
    Symmetry,
    Transformation,
    range_words,
)
from offdiag.metrics.suite import Suite, evaluate_stack
from offdiag.metrics.symmetry import (
    GROUP_WORDS,
    LETTERS,
    TRANSFORMATION_WORDS,
    effect_words,
    imbalance_effect,
)

FOLDER = PurePosixPath("metrics")
GENERATED = "<!-- Written by docs/generate.py from the catalogue of metrics; edit that. -->"

# Zeng 2025 (Mathematics 13(16) 2609), Table 9: the Wine data classified by alcohol alone.
WINE = np.array([[8, 3, 8], [1, 17, 3], [5, 2, 7]])
# Example 12.3 of "Machine Learning & Signals Learning": a classifier that always predicts no.
ALWAYS_NO = np.array([[0, 10], [0, 990]])
EXAMPLES = (
    (
        "Three wines classified by their alcohol alone (Zeng 2025, Table 9)",
        WINE,
        ("1", "2", "3"),
    ),
    ("A classifier that always predicts no", ALWAYS_NO, ("yes", "no")),
)


_OF_A_MATRIX = (Scope.AGGREGATE, Scope.PER_CLASS)


def pages() -> dict[PurePosixPath, str]:
    """Path below docs and content of every page."""
    keys = dict.fromkeys(spec.key for spec in SPECS)
    found = {FOLDER / f"{key}.md": key_page(key) for key in keys}
    return {FOLDER / "README.md": index_page()} | found


def key_page(key: str) -> str:
    entries = [CATALOGUE[scope][key] for scope in Scope if key in CATALOGUE[scope]]
    parts = [GENERATED, f"# `{key}`", *(_entry(spec) for spec in entries)]
    return _joined([*parts, "[All metrics](README.md)"])


def index_page() -> str:
    tables = [_index_table(scope) for scope in Scope if CATALOGUE[scope]]
    return _joined([GENERATED, "# Metrics", INTRODUCTION, *tables])


INTRODUCTION = """\
This page lists every metric by its key. The page of a metric has the definition, the method of its
[95 % interval](../intervals.md) and the names in other libraries.

* An undefined value is `null` with a reason, never 0 or NaN. A positive number over zero also has
  the limit `+inf`.
* Products and differences of counts use exact integers, with one division or root at the end, so
  values keep their precision with 10^16 examples.
* Filters, gates, reports and `evaluation.aggregate` also accept the names of scikit-learn's
  scorers, such as `f1_macro` or `neg_log_loss`.

In formulas, TP, FN, FP and TN count examples of one class against the rest; t of them are actual
and p predicted positives, and N is the number of all examples. Over classes, c_ij counts examples
of class i predicted as j, S is the sum of the diagonal, K the number of declared classes and K'
that of classes with examples. Of q labels, Y is the true and Z the predicted set of an example.
W_ij is the cost of predicting j for actual i.

The letters show which transformations leave a metric unchanged:

| letter | transformation |
| --- | --- |
| **T** | actual and predicted swapped; a metric with T cannot reveal a transposed matrix |
| **L** | positive and negative class swapped |
| **P** | other class sizes |
| **S** | all predictions inverted; at most x becomes -x, 1 - x or 1 / x, by its range |
| **F** | classes and predictions inverted; at most x is mirrored as with S |

The column *imbalance* shows how the imbalance of two classes changes a metric while recall and
specificity stay the same:

* *independent*: the value does not change
* *equal recalls*: it changes unless recall and specificity are equal
* *dependent*: it changes even then

The number is how far 5 % or 95 % positive examples move the value from that of balanced classes,
on average over all recalls and specificities, with the range scaled to 0 to 1.

The groups follow from the definitions and are tested on a grid. They are not the clusters that
Luque et al. 2019 (Pattern Recognition 91, 216-231) found by simulation. Those authors recommend
the geometric mean or the informedness, and the MCC if errors must be considered, too."""


def _index_table(scope: Scope) -> str:
    rows = [
        f"| [`{spec.key}`]({spec.key}.md) | {spec.title} | {range_words(spec)} | "
        f"{spec.direction.value} | {_letters(spec.symmetry)} |{_imbalance_cell(spec)}"
        for spec in CATALOGUE[scope].values()
    ]
    head = "| key | metric | range | better | |\n| --- | --- | --- | --- | --- |"
    if scope in _OF_A_MATRIX:
        head = "| key | metric | range | better | | imbalance |\n|" + " --- |" * 6
    return f"## {SCOPE_TITLES[scope]}\n\n{head}\n" + "\n".join(rows)


def _letters(symmetry: Symmetry | None) -> str:
    if symmetry is None:
        return ""
    return " ".join(letter for letter, name in LETTERS.items() if getattr(symmetry, name))


def _imbalance_cell(spec: MetricSpec) -> str:
    if spec.scope not in _OF_A_MATRIX:
        return ""
    effect = imbalance_effect(spec)
    if effect is None:
        return " |"
    return f" {effect.group}{f', {effect.mean:.2f}' if effect.mean else ''} |"


def _entry(spec: MetricSpec) -> str:
    symbol = f" ({spec.symbol})" if spec.symbol else ""
    return _joined(
        [
            f"## {SCOPE_TITLES[spec.scope]}: {spec.title}{symbol}",
            f"    {spec.formula}",
            _facts(spec),
            *([spec.notes] if spec.notes else []),
            f"Interval: {spec.interval}",
            *_undefined(spec),
            *_ignores(spec),
            *_symmetry_card(spec),
            *_imbalance(spec),
            *_examples(spec),
            *_other_names(spec),
        ]
    )


def _facts(spec: MetricSpec) -> str:
    return (
        f"{range_words(spec).capitalize()}; {DIRECTION_WORDS[spec.direction]}. "
        f"Version {spec.version} of the definition, after {spec.source}."
    )


def _undefined(spec: MetricSpec) -> Iterator[str]:
    if not spec.undefined_when:
        yield "### Undefined\n\nNever."
        return
    rows = [
        f"| `{reason.value}` | {_cell(text)} |" for reason, text in spec.undefined_when.items()
    ]
    yield "### Undefined\n\n| reason | when |\n| --- | --- |\n" + "\n".join(rows)


def _ignores(spec: MetricSpec) -> Iterator[str]:
    if spec.ignores:
        yield "### Does not depend on\n\n" + "\n".join(f"* {phrase}" for phrase in spec.ignores)


def _symmetry_card(spec: MetricSpec) -> Iterator[str]:
    if spec.symmetry is None:
        return
    rows = [
        f"| {text} | {_effect(spec, transformation)} |"
        for transformation, text in TRANSFORMATION_WORDS.items()
    ]
    independent = "unchanged" if spec.symmetry.prevalence_independent else "changes"
    rows.append(f"| more or fewer examples of one actual class | {independent} |")
    yield "### Symmetry\n\n| change | value |\n| --- | --- |\n" + "\n".join(rows)


def _imbalance(spec: MetricSpec) -> Iterator[str]:
    effect = imbalance_effect(spec)
    if effect is None:
        return
    moved = (
        f" Compared with balanced classes, 5 % or 95 % positive examples move the value by "
        f"{effect.mean:.3f} on average over all recalls and specificities, and by up to "
        f"{effect.largest:.3f}. The range is scaled to 0 to 1."
        if effect.mean
        else ""
    )
    yield (
        "### Imbalance\n\nWith two classes and fixed recall and specificity, the value "
        f"{GROUP_WORDS[effect.group]}.{moved}"
    )


def _effect(spec: MetricSpec, transformation: Transformation) -> str:
    words, partner = effect_words(spec, transformation)
    return words if partner is None else f"{words} [`{partner}`]({partner}.md)"


def _examples(spec: MetricSpec) -> Iterator[str]:
    if spec.scope not in _OF_A_MATRIX:
        return
    yield "### Examples"
    for caption, counts, names in EXAMPLES:
        suite = evaluate_stack(counts, ordinal=True)
        order = "" if _ignores_order(spec) else ", treating the classes as ordered"
        yield f"{caption}{order}:\n\n{_matrix(counts.tolist(), names)}"
        if spec.scope is Scope.AGGREGATE:
            yield f"`{spec.key}` = {_shown(suite.aggregate[spec.key].at())}"
        else:
            yield _class_table(spec.key, suite, names)


def _ignores_order(spec: MetricSpec) -> bool:
    return spec.symmetry is None or spec.symmetry.label_permutation


def _matrix(counts: list[list[int]], names: tuple[str, ...]) -> str:
    head = f"| actual ↓ predicted → | {' | '.join(names)} |\n| --- |{' ---: |' * len(names)}"
    rows = [
        f"| **{name}** | {' | '.join(str(count) for count in row)} |"
        for name, row in zip(names, counts, strict=True)
    ]
    return "\n".join([head, *rows])


def _class_table(key: str, suite: Suite, names: tuple[str, ...]) -> str:
    counted = ("tp", "fn", "fp", "tn")
    head = f"| class | TP | FN | FP | TN | `{key}` |\n| --- | ---: | ---: | ---: | ---: | ---: |"
    rows = []
    for code, name in enumerate(names):
        counts = [f"{suite.per_class[cell].value[code]:.0f}" for cell in counted]
        value = _shown(suite.per_class[key].at(code))
        rows.append(f"| {name} | {' | '.join(counts)} | {value} |")
    return "\n".join([head, *rows])


def _shown(value: MetricValue) -> str:
    if value.value is not None:
        return f"{value.value:.6g}"
    limit = f", tends to {value.limit}" if value.limit else ""
    return f"n/a (`{value.reason}`{limit})"


def _other_names(spec: MetricSpec) -> Iterator[str]:
    if spec.other_names:
        rows = [f"| {library} | {_cell(name)} |" for library, name in spec.other_names.items()]
        yield "### Names elsewhere\n\n| library | name |\n| --- | --- |\n" + "\n".join(rows)


def _cell(text: str) -> str:
    """Text escaped for a cell of a table."""
    return text.replace("|", "\\|")


def _joined(parts: list[str]) -> str:
    return "\n\n".join(part.strip("\n") for part in parts) + (
        "\n" if parts[0] == GENERATED else ""
    )
