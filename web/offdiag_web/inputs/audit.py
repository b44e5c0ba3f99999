"""A pasted table and what was said about it, as it was typed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from offdiag.audit.table_text.headers import read_meaning, written
from offdiag.audit.table_text.interpretation import Corrections, read_pasted
from offdiag.errors import InvalidInput
from offdiag_web.published_tables import published_table

HEAD_FIELD = "read:"
"""A field that corrects a head is called by it: `read:Macro F1`."""
CLASSES, MODELS = "classes", "models"
PERCENT, FRACTION = "percent", "fraction"

_NO_HEADS: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedAudit:
    """One text for each field, empty where nothing was said.

    `names` is "classes" or "models", `unit` "percent" or "fraction", and `heads` what was
    written beside the heads of the table.
    """

    table: str = ""
    classes: str = ""
    positive: str = ""
    names: str = ""
    unit: str = ""
    heads: Mapping[str, str] = field(default_factory=lambda: _NO_HEADS)

    @property
    def corrections(self) -> Corrections:
        return Corrections(
            heads={head: text for head, text in self.heads.items() if text.strip()},
            classes=self.classes,
            positive=self.positive,
            are_models={CLASSES: False, MODELS: True}.get(self.names),
            is_percent={FRACTION: False, PERCENT: True}.get(self.unit),
        )


TEXT_FIELDS = ("table", "classes", "positive", "names", "unit")


def typed_audit(values: Mapping[str, str]) -> TypedAudit:
    """What a form or an address holds; an example brings what nothing else is said about."""
    # Browsers send line breaks as CR LF.
    texts = {name: values.get(name, "").replace("\r\n", "\n") for name in TEXT_FIELDS}
    example = published_table(values.get("example", ""))
    if example is not None and not texts["table"].strip():
        texts["table"] = example.table
        texts["classes"] = texts["classes"] or example.classes
        texts["positive"] = texts["positive"] or example.positive
    heads = {
        name.removeprefix(HEAD_FIELD): text
        for name, text in values.items()
        if name.startswith(HEAD_FIELD)
    }
    return TypedAudit(**texts, heads=heads)


def with_real_corrections(typed: TypedAudit) -> TypedAudit:
    """The same without what would have been found out anyway.

    A form sends what stands beside every head. Raises `InvalidInput` for what cannot be read.
    """
    reading = read_pasted(typed.table, replace(typed, heads={}).corrections)[0]
    found = {head.head: head.meaning for head in reading.heads}
    heads = {
        head: written(read_meaning(text))
        for head, text in typed.heads.items()
        if text.strip() and head in found
    }
    return replace(
        typed, heads={head: text for head, text in heads.items() if text != found[head]}
    )


def without_heads_that_fail(typed: TypedAudit) -> TypedAudit:
    """The same with only the corrections of heads that can be read."""

    def is_readable(text: str) -> bool:
        try:
            read_meaning(text)
        except InvalidInput:
            return False
        return True

    heads = {head: text for head, text in typed.heads.items() if is_readable(text)}
    return replace(typed, heads=heads)
