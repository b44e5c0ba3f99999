"""Tags of a run as lines of text that a user edits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from offdiag.errors import InvalidInput
from offdiag_web.pages.run_meta.view import entries

REVIEW = "review"
"""The tag that holds the review state."""
REVIEW_STATES = ("to review", "reviewed", "rejected")


def tag_lines(tags: Mapping[str, Any]) -> str:
    """The tags for editing, "key=value" on each line, without the review state."""
    return "\n".join(f"{fact.name}={fact.text}" for fact in entries(tags) if fact.name != REVIEW)


def require_tag_lines(text: str, shown: str) -> None:
    """Raise `InvalidInput` for a line without a key and for two lines with the same key.

    Lines that were `shown` are accepted, since they may belong to one value of several lines.
    """
    known, places = set(shown.splitlines()), dict[str, tuple[int, str]]()
    for number, line in enumerate(text.splitlines(), 1):
        key = line.partition("=")[0].strip()
        if not key and line.strip() and line not in known:
            raise InvalidInput(
                f"line {number} of the tags has no key: {line[:40]!r}.",
                field="tags",
                hint="Write key=value, or remove the line.",
            )
        first, of_first = places.setdefault(key, (number, line))
        if key and first != number and not known >= {line, of_first}:
            raise InvalidInput(
                f"lines {first} and {number} of the tags both give {key[:40]!r}.",
                field="tags",
                hint="Keep one of them.",
            )


def read_tags(text: str, known: Mapping[str, Any]) -> dict[str, Any]:
    """The tags from edited lines; unchanged values keep their type."""
    texts = {fact.name: fact.text for fact in entries(known)}
    tags: dict[str, Any] = {}
    for line in text.splitlines():
        key, _, value = (part.strip() for part in line.partition("="))
        if key:
            tags[key] = known[key] if texts.get(key) == value else value
    return tags


def typed_tags(form: Mapping[str, str], known: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """The tags in the fields of a form whose names begin with `prefix`, with the review state."""
    tags = read_tags(form.get(f"{prefix}tags", ""), known)
    review = form.get(f"{prefix}review", "")
    return tags | {REVIEW: review} if review in REVIEW_STATES else tags
