"""What a run is: identity, life cycle, facts that its author states, and decision rule."""

from __future__ import annotations

import json
import math
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import PurePath
from string import ascii_uppercase
from typing import Any, Protocol

from offdiag.domain.number_text import about
from offdiag.domain.orientation import SourceOrientation
from offdiag.domain.texts import DEFAULT_PROJECT, is_blank, require_storable, shortened
from offdiag.domain.values import MetricValue, plain_value
from offdiag.errors import InvalidInput

MAX_NAME_LENGTH = 500
MAX_TEXT_LENGTH = 5_000
MAX_ENTRIES = 500
# Filters compare it as a float, and Python refuses to write much larger numbers.
_LARGEST_NUMBER = 10**300

Scalar = str | int | float | bool | None
"""Values of parameters and tags."""

METHOD, SEED, FOLD = "group", "seed", "fold"
"""Tags of runs that belong together: of one method, by seed or cross-validation fold."""
TRAIN_SIZE = "train_size"
"""Tag for how many training examples a run of a method had, or up to 1 for their share."""

_ID_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


class RunState(StrEnum):
    """Life cycle of a run. A finished run never changes; its evaluations may."""

    OPEN = "open"
    """Accepts predictions."""
    FINISHED = "finished"
    """Complete and immutable; waiting for its evaluation."""
    EVALUATED = "evaluated"
    """Has a current evaluation."""
    FAILED = "failed"
    """The evaluation failed repeatedly and is not tried again."""


class StaleReason(StrEnum):
    """Why the results of a run have to be computed again."""

    NOT_EVALUATED = "not_evaluated"
    TRUTH_REVISED = "truth_revised"
    SUITE_CHANGED = "suite_changed"
    RULES_CHANGED = "rules_changed"
    COSTS_CHANGED = "costs_changed"
    BASELINE_CHANGED = "baseline_changed"
    CURVES_MISSING = "curves_missing"


class PromotionRole(StrEnum):
    """The role for which a run was chosen on its dataset."""

    CHAMPION = "champion"
    """Approved: the run that is in use."""
    CANDIDATE = "candidate"
    """Proposed as the next champion."""


class Task(StrEnum):
    """What the labels of a dataset mean."""

    BINARY = "binary"
    MULTICLASS = "multiclass"
    MULTILABEL = "multilabel"


def new_run_id() -> str:
    """`r_` and 60 random bits in lower-case base 32, without letters that look like digits."""
    return "r_" + "".join(secrets.choice(_ID_ALPHABET) for _ in range(12))


def name_or_default(
    name: str | None, *, model: str | None, client_key: str | None, unique_name: bool
) -> str:
    """The name given to a run, else that of its model, its client key, or one with the time.

    A retry with a client key has to find the same name. The four letters at the end tell runs of
    the same second apart.
    """
    if name is not None:
        return name
    if model is not None and not unique_name:
        return model
    if client_key is not None:
        return client_key
    letters = "".join(secrets.choice(_ID_ALPHABET) for _ in range(4))
    return f"{model or 'run'} {datetime.now(UTC):%Y-%m-%d %H:%M:%S} {letters}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidOfRun:
    """What the author stated about a stored run, apart from its name."""

    model: str | None
    params: Mapping[str, Any]
    tags: Mapping[str, Any]
    author: str | None
    git_sha: str | None

    def facts(self, **changes: Any) -> RunFacts:
        """The facts stated when the run was logged, with `changes`. Raises `InvalidInput`.

        If only the id of the project is known, pass the project in `changes["project"]`.
        """
        known = {each.name for each in fields(self)}
        said = {
            each.name: getattr(self, each.name) for each in fields(RunFacts) if each.name in known
        }
        return RunFacts(**said | changes)


class _Logged(Protocol):
    @property
    def author(self) -> str | None: ...
    @property
    def git_sha(self) -> str | None: ...


COMMIT = "git commit"
"""The label shown before the commit from which a run was logged."""


def logged_by(run: _Logged) -> dict[str, str | None]:
    """Who logged a run and from which commit, by the labels shown before them."""
    return {"author": run.author, COMMIT: run.git_sha}


@dataclass(frozen=True)
class RunFacts:
    """What a user states about a run, checked.

    `client_key` makes opening idempotent: the same key in the same project finds the same run.
    With `unique_name` no other run of the dataset may have the name. Everything here is shown to
    people and treated as hostile text.
    """

    name: str
    project: str = DEFAULT_PROJECT
    model: str | None = None
    client_key: str | None = None
    params: Mapping[str, Scalar] = field(default_factory=dict)
    tags: Mapping[str, Scalar] = field(default_factory=dict)
    author: str | None = None
    git_sha: str | None = None
    unique_name: bool = False

    def __post_init__(self) -> None:
        require_name(self.project, "project")
        for name, text in (("model", self.model), ("client_key", self.client_key)):
            if text is not None:
                require_name(text, name)
        require_name(self.name, "name")  # After those it may be made of.
        for name, text in (("author", self.author), ("git_sha", self.git_sha)):
            if text is not None:
                require_text(text, name, MAX_TEXT_LENGTH)
        require_entries(self.params, "params")
        require_entries(self.tags, "tags")

    def said(self) -> dict[str, Any]:
        """The fields of a `SaidOfRun` by name."""
        said = {each.name: getattr(self, each.name) for each in fields(SaidOfRun)}
        return said | {"params": dict(self.params), "tags": dict(self.tags)}

    def to_dict(self) -> dict[str, Any]:
        facts = {each.name: getattr(self, each.name) for each in fields(self)}
        if not self.unique_name:  # Servers of the last release do not know it.
            del facts["unique_name"]
        return facts | {"params": dict(self.params), "tags": dict(self.tags)}


@dataclass(frozen=True)
class Derivation:
    """Where the predictions of a derived run come from.

    `run_id` is the run whose scores were used, `recipe` the rule as plain values: "rule" is
    "least_expected_cost" or "threshold", the other keys are its parameters.
    """

    run_id: str
    recipe: Mapping[str, Any]

    @property
    def is_chosen_here(self) -> bool:
        """Whether the rule was chosen by its results on the very examples it decides.

        The run then looks better than it would on new examples, so no difference from another run
        is evidence.
        """
        return self.recipe.get("chosen") is not None


def require_name(name: object, field_name: str) -> str:
    """Return a name: non-empty text of bounded length without control characters."""
    if not isinstance(name, str):
        raise InvalidInput(
            f"{name!r} is not text.", field=field_name, hint="Give a name as a string."
        )
    if is_blank(name):
        raise InvalidInput("the name is empty.", field=field_name, hint="Give it a name.")
    require_text(name, field_name, MAX_NAME_LENGTH)
    if any(ord(character) < 32 for character in name):
        raise InvalidInput(
            f"{name[:40]!r} contains a control character.",
            field=field_name,
            hint="Remove line breaks and tabs.",
        )
    return name


def require_text(text: object, field_name: str, limit: int) -> None:
    """Raise `InvalidInput` unless it is storable text of at most `limit` characters."""
    if not isinstance(text, str):
        raise InvalidInput(f"{text!r} is not text.", field=field_name, hint="Give a string.")
    if len(text) > limit:
        raise InvalidInput(
            f"{shortened(text)!r} has {len(text)} characters.",
            field=field_name,
            hint=f"At most {limit} are stored.",
        )
    require_storable(text, field=field_name)


MAX_NOTE_LENGTH = 5_000


def stored_note(note: object) -> str:
    """A note as it is stored, "" for none. Raises `InvalidInput` if it cannot be stored."""
    text = note.replace("\r\n", "\n").strip() if isinstance(note, str) else note
    require_text(text, "note", MAX_NOTE_LENGTH)
    return str(text)


MOST_FOUND = 100_000


MOST_COMPARED = len(ascii_uppercase)
"""Most runs in one comparison: one for each letter of the alphabet."""


def require_several(run_ids: Sequence[str]) -> None:
    """Raise `InvalidInput` unless these are two or more different runs, but not too many."""
    if len(run_ids) < 2:
        raise InvalidInput(
            f"there {'is one run' if run_ids else 'are no runs'} to compare.",
            field="runs",
            hint="Name two or more.",
        )
    if len(run_ids) > MOST_COMPARED:
        raise InvalidInput(
            f"there are {len(run_ids)} runs.",
            field="runs",
            hint=f"At most {MOST_COMPARED} are compared at once.",
        )
    doubled = next((each for each in run_ids if run_ids.count(each) > 1), None)
    if doubled is not None:
        raise InvalidInput(
            f"{doubled} is named twice.", field="runs", hint="Compare it with another run."
        )


def require_number_of_runs(limit: object) -> None:
    """Raise `InvalidInput` unless `limit` is an allowed number of search results."""
    if not isinstance(limit, int) or not 1 <= limit <= MOST_FOUND:
        raise InvalidInput(
            f"{limit!r} is not a number of runs between 1 and {MOST_FOUND:,}.",
            field="max_results",
            hint="Narrow the search with a filter.",
        )


def plain_entries(entries: Mapping[str, Any] | None, field: str) -> dict[str, Scalar]:
    """Nested entries under dotted names, with Python scalars as values; not checked further."""
    if entries is None:
        return {}
    if not isinstance(entries, Mapping):
        raise InvalidInput(
            f"{type(entries).__name__} is not a mapping.",
            field=field,
            hint="Give a dict; vars() makes one of a namespace or a dataclass.",
        )
    found: dict[str, Scalar] = {}
    for key, value in _flattened(entries):
        if key in found:
            raise InvalidInput(
                f"{key!r} is given twice, nested and with a dot in its name.",
                field=field,
                hint="Rename one of them.",
            )
        found[key] = _scalar(value)
    return found


def _scalar(value: Any) -> Any:
    """numpy scalars as Python ones, lists and tuples as JSON text, paths as text."""
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, list | tuple):
        with suppress(TypeError, ValueError):
            return json.dumps(value, ensure_ascii=False, allow_nan=False)
    return plain_value(value)


def _flattened(entries: Mapping[Any, Any], prefix: str = "") -> Iterator[tuple[Any, Any]]:
    """`{"optimizer": {"lr": 0.1}}` as "optimizer.lr"; an empty mapping yields nothing."""
    for key, value in entries.items():
        name = f"{prefix}{key}" if prefix else key
        if isinstance(value, Mapping):
            yield from _flattened(value, f"{name}.")
        else:
            yield name, value


def require_entries(entries: Mapping[str, Scalar], field_name: str) -> None:
    """Raise `InvalidInput` for parameters or tags that cannot be stored."""
    if len(entries) > MAX_ENTRIES:
        raise InvalidInput(
            f"there are {len(entries)} entries.",
            field=field_name,
            hint=f"At most {MAX_ENTRIES} are stored with a run.",
        )
    for key, value in entries.items():
        require_name(key, field_name)
        place = f"{field_name}[{key!r}]"
        if isinstance(value, str):
            require_text(value, place, MAX_TEXT_LENGTH)
        elif isinstance(value, int) and abs(value) > _LARGEST_NUMBER:
            raise InvalidInput(
                f"a whole number of {value.bit_length():,} bits cannot be stored.",
                field=place,
                hint="Write it as text, or as a float.",
            )
        elif isinstance(value, float) and not math.isfinite(value):
            raise InvalidInput(
                f"{value} cannot be stored.", field=place, hint="Use None or a finite number."
            )
        elif not isinstance(value, (int, float, bool, type(None))):
            raise InvalidInput(
                f"{value!r} of type {type(value).__name__} cannot be stored.",
                field=place,
                hint="Use str, int, float, bool or None.",
            )


@dataclass(frozen=True, slots=True)
class WorstClass:
    """The class with the lowest recall among those that have samples.

    `support` is None if samples have weights, because a sum of weights is no number of samples.
    """

    label: str
    support: int | None
    recall: MetricValue

    @property
    def hits(self) -> int | None:
        """Samples of the class that were found: recall times support."""
        if self.support is None:
            return None
        return round((self.recall.value or 0.0) * self.support)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundRun(SaidOfRun):
    """One run found. `metrics` has aggregates by key and is empty until the run is evaluated.

    `truth_version` is the label version of its metrics. `n_samples` counts the samples behind them
    (None until there are any), `n_unlabelled` those that wait for a label. `hides_minority` is
    None if nothing can be said about it; `may_hide_minority` is True if there is a gap that is not
    proved. `worst_class` is read only where it is shown. Metrics are weighted if the samples have
    weights (`is_weighted`).
    """

    id: str
    name: str
    project: str
    dataset: str
    truth_version: int | None
    state: RunState
    created_at: datetime
    n_predictions: int
    n_samples: int | None
    n_unlabelled: int
    source: SourceOrientation
    orientation_verdict: str | None
    derivation: Derivation | None
    hides_minority: bool | None
    may_hide_minority: bool | None
    metrics: Mapping[str, MetricValue]
    worst_class: WorstClass | None = None
    is_weighted: bool = False


@dataclass(frozen=True, slots=True)
class FoundRuns:
    """The runs that a search found, in order.

    `n_without_slices` counts the runs that conditions on slices cannot find because their samples
    have weights; it is 0 without such conditions. `is_cut` says whether more runs match.
    """

    runs: Sequence[FoundRun]
    n_without_slices: int = 0
    is_cut: bool = False


def without_slices_text(n_runs: int) -> str:
    """A note that runs with sample weights are missing from a search by slices."""
    if n_runs == 1:
        return "1 run with sample weights has no metrics of slices and is not found by them."
    return (
        f"{n_runs:,} runs with sample weights have no metrics of slices and are not found by them."
    )


def weighted_here_text(n_runs: int, *, are_last: bool) -> str:
    """A note that runs with sample weights do not compare with others, and come last if so."""
    have, their = ("run here has", "its") if n_runs == 1 else ("runs here have", "their")
    end = ", which comes first." if are_last else "."
    return f"{n_runs:,} {have} sample weights, so {their} values do not compare with the rest{end}"


def not_ranked_text(n_runs: int) -> str:
    """A note that runs with sample weights are left out of a ranking."""
    if n_runs == 1:
        return "1 run with sample weights is not ranked with runs without."
    return f"{n_runs:,} runs with sample weights are not ranked with runs without."


def chosen_here_text(n_runs: int) -> str:
    """A note that runs are listed in a ranking without being compared."""
    if n_runs == 1:
        return "1 run is not compared: its threshold was chosen on these examples."
    return f"{n_runs:,} runs are not compared: their thresholds were chosen on these examples."


def choice_text(n_runs: int, expected: float | None) -> str:
    """A note on the first of `n_runs` ranked runs; `expected` is None if that is unknown."""
    chosen = f"Chosen for its value among {n_runs:,} runs, the first"
    if expected is None:
        return f"{chosen} is flattered by it; a class has too few examples to correct that."
    return f"{chosen} is expected to reach {about(expected)} on new examples."


THRESHOLD = 0.5

ARG_MAX: Mapping[str, Any] = {"rule": "arg_max", "ties": "first_in_label_order"}
"""Predict the class with the highest score; of equal ones, the first in label order."""


def at_threshold(positive_label: str) -> Mapping[str, Any]:
    """Predict the positive one of two classes if its score is at least 0.5, else the other."""
    return {"rule": "threshold", "positive": positive_label, "threshold": THRESHOLD}


def decision_text(rule: Mapping[str, Any]) -> str:
    if rule.get("rule") == "threshold":
        return f"{rule['positive']!r} where its score is at least {rule['threshold']:.9g}"
    return "the class with the highest score, the first in label order of equal ones"
