"""Addresses of the list of flags and of one flag."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace

from offdiag.flags.catalogue import RULES
from offdiag.flags.lifecycle import FlagState
from offdiag.flags.verdict import Severity
from offdiag.store.flag_inbox import FlagPlace
from offdiag.store.flags import FlagFilter
from offdiag_web.urls.query_string import with_query

ALL = "all"
"""Stands for every state, also that of closed flags."""
WHOLE_RUN = "(whole run)"
"""Stands for flags that are about no class, where a class is asked for."""
NOBODY = "(nobody)"
"""Stands for flags that nobody looks after, where a person is asked for."""

_PLACE = re.compile(r"([0-3])~([1-9]\d{0,17})")


@dataclass(frozen=True, slots=True, kw_only=True)
class FlagFields:
    """What flags are narrowed to, as people write it; empty leaves a field open."""

    severity: str = ""
    rule: str = ""
    class_label: str = ""
    dataset: str = ""
    model: str = ""
    assignee: str = ""
    run: str = ""
    project: str = ""

    def named(self) -> Iterator[tuple[str, str]]:
        """The fields that are set, by the name they have in addresses."""
        for each in fields(self):
            value = getattr(self, each.name)
            if value:
                yield _KEYS.get(each.name, each.name), value


_KEYS = {"class_label": "class"}
FIELD_KEYS = tuple(_KEYS.get(each.name, each.name) for each in fields(FlagFields))


@dataclass(frozen=True, slots=True)
class FlagListAddress:
    """Which flags, in which state, from where on; `state` None is all states."""

    state: FlagState | None = FlagState.OPEN
    fields: FlagFields = FlagFields()
    place: FlagPlace | None = None

    def url(self, form: str = "") -> str:
        """Canonical URL of the list as `form`, "json" or "csv"; without it, that of problems."""
        return with_query(
            f"/flags.{form}" if form else "/flags",
            {
                "state": self.state_word or None,
                **dict(self.fields.named()),
                **_place_values(self.place),
            },
        )

    @property
    def state_word(self) -> str:
        """The state as addresses name it, empty for the open ones."""
        if self.state is None:
            return ALL
        return "" if self.state is FlagState.OPEN else self.state.value

    @property
    def filter(self) -> FlagFilter:
        """The flags that are meant."""
        wanted = self.fields
        return FlagFilter(
            state=self.state,
            at_least=Severity(wanted.severity) if wanted.severity else None,
            rule=wanted.rule or None,
            class_label=_or_empty(wanted.class_label, WHOLE_RUN),
            run_id=wanted.run or None,
            dataset=wanted.dataset or None,
            model=wanted.model or None,
            project=wanted.project or None,
            assignee=_or_empty(wanted.assignee, NOBODY),
        )

    def at(self, place: FlagPlace | None) -> FlagListAddress:
        """Another page of the same list."""
        return replace(self, place=place)


def read_flag_list(values: Mapping[str, str]) -> tuple[FlagListAddress, list[str]]:
    """The address in a query string, with a notice for each value that cannot be meant."""
    notices: list[str] = []
    given = {key: values.get(key, "") for key in FIELD_KEYS}
    severity, rule = given["severity"].strip(), given["rule"].strip().upper()
    if severity and severity not in set(Severity):
        notices.append(f"There is no severity “{severity}”; known are {', '.join(Severity)}.")
        severity = ""
    if rule and rule not in RULES:
        notices.append(f"There is no rule “{rule}”; known are {', '.join(RULES)}.")
        rule = ""
    wanted = FlagFields(
        severity=severity,
        rule=rule,
        class_label=given["class"],
        dataset=given["dataset"].strip(),
        model=given["model"].strip(),
        assignee=given["assignee"].strip(),
        run=given["run"].strip(),
        project=given["project"].strip(),
    )
    state = _read_state(values.get("state", ""), notices)
    return FlagListAddress(state, wanted, _read_place(values, notices)), notices


def flag_url(number: int, form: str = "") -> str:
    """The page of a flag, or its twin where `form` is "json" or "csv"."""
    return f"/flags/{number}{f'.{form}' if form else ''}"


def flag_classes_url(number: int) -> str:
    """The recall and the size of every class of the run of a flag, as CSV."""
    return f"/flags/{number}/classes.csv"


def _read_state(text: str, notices: list[str]) -> FlagState | None:
    if text == ALL:
        return None
    if not text or text in set(FlagState):
        return FlagState(text or FlagState.OPEN)
    known = ", ".join([*FlagState, ALL])
    notices.append(f"There is no state “{text}”; known are {known}.")
    return FlagState.OPEN


def _place_values(place: FlagPlace | None) -> dict[str, str | None]:
    if place is None:
        return {}
    return {"before" if place.backwards else "after": f"{place.rank}~{place.flag_id}"}


def _read_place(values: Mapping[str, str], notices: list[str]) -> FlagPlace | None:
    for key in ("after", "before"):
        text = values.get(key)
        if text:
            found = _PLACE.fullmatch(text)
            if found is not None:
                return FlagPlace(int(found[1]), int(found[2]), backwards=key == "before")
            notices.append("The place in the list could not be read; this is its beginning.")
    return None


def _or_empty(text: str, special: str) -> str | None:
    """What the store looks for: nothing in particular, the empty value, or a name."""
    if not text:
        return None
    return "" if text == special else text
