"""Addresses of audits: the text itself is in them, so that a link shows the same to everybody."""

from __future__ import annotations

from dataclasses import replace

from offdiag_web.inputs.audit import HEAD_FIELD, TEXT_FIELDS, TypedAudit
from offdiag_web.published_tables import PUBLISHED_TABLES, PublishedTable
from offdiag_web.urls.query_string import with_query

AUDIT = "/audit"
LONGEST_LINK = 4_000
"""Characters of an address that every browser, proxy and mail program lets through."""


def audit_url(typed: TypedAudit, form: str = "") -> str:
    """The page of an audit, or its twin where `form` is "json".

    A text that is one of the examples is called by its name.
    """
    path = f"{AUDIT}{f'.{form}' if form else ''}"
    example = _example_of(typed)
    if example is not None:
        typed = replace(typed, table="", classes="", positive="")
    values: dict[str, str | None] = {name: getattr(typed, name) for name in TEXT_FIELDS}
    values |= {f"{HEAD_FIELD}{head}": text for head, text in typed.heads.items()}
    values["example"] = None if example is None else example.name
    return with_query(path, values)


def example_url(example: PublishedTable) -> str:
    return with_query(AUDIT, {"example": example.name})


def fits_link(typed: TypedAudit) -> bool:
    """Whether the address of an audit is short enough to be passed on."""
    return len(audit_url(typed)) <= LONGEST_LINK


def _example_of(typed: TypedAudit) -> PublishedTable | None:
    said = (typed.table.strip(), typed.classes, typed.positive)
    return next(
        (
            example
            for example in PUBLISHED_TABLES
            if (example.table.strip(), example.classes, example.positive) == said
        ),
        None,
    )
