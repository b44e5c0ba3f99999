"""The address of a run's table of classes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Literal, cast, get_args

from offdiag_web.urls.query_string import with_query

ColumnGroup = Literal["main", "counts", "rates", "scores", "ratios", "ranking"]
_LARGEST_START = 10_000_000


@dataclass(frozen=True, slots=True)
class ClassesAddress:
    """Which columns, sorted by which, from the how-manieth class on (counted from 0).

    `part` is the slice that the values are of.
    """

    run_id: str
    group: ColumnGroup = "main"
    sort_key: str = "support"
    descending: bool = True
    start: int = 0
    part: str | None = None

    def url(self, form: str = "") -> str:
        """Canonical URL of the table, or of its twin where `form` is "json" or "csv"."""
        path = f"/runs/{self.run_id}/classes"
        is_default = self.sort_key == "support" and self.descending
        return with_query(
            f"{path}.{form}" if form else path,
            {
                "slice": self.part,
                "show": None if self.group == "main" or form else self.group,
                "sort": None if is_default else f"{'-' if self.descending else ''}{self.sort_key}",
                "from": str(self.start + 1) if self.start and not form else None,
            },
        )

    def sorted_by(self, key: str) -> ClassesAddress:
        """Sorted by a column; lowest first, because that is where a model fails."""
        again = self.sort_key == key
        first_descending = key in {"support", "predicted"}
        descending = not self.descending if again else first_descending
        return replace(self, sort_key=key, descending=descending, start=0)

    def showing(self, group: ColumnGroup) -> ClassesAddress:
        """With another group of columns."""
        return replace(self, group=group)

    def starting_at(self, start: int) -> ClassesAddress:
        """Another page of the same table."""
        return replace(self, start=start)


def read_classes(
    run_id: str, values: Mapping[str, str], known_keys: Collection[str]
) -> tuple[ClassesAddress, list[str]]:
    """The address in a query string, with a notice for each value that cannot be meant."""
    notices: list[str] = []
    address = ClassesAddress(run_id, part=values.get("slice") or None)
    group = values.get("show")
    if group in get_args(ColumnGroup):
        address = replace(address, group=cast(ColumnGroup, group))
    elif group:
        known = ", ".join(get_args(ColumnGroup))
        notices.append(f"There are no columns “{group}”; known are {known}.")
    sort = values.get("sort")
    if sort:
        key = sort.removeprefix("-")
        if key in known_keys or key == "label":
            address = replace(address, sort_key=key, descending=sort.startswith("-"))
        else:
            notices.append(f"Classes cannot be sorted by “{key}”.")
    start = values.get("from")
    if start and start.isascii() and start.isdigit() and 1 <= int(start[:9]) <= _LARGEST_START:
        address = replace(address, start=int(start[:9]) - 1)
    elif start:
        notices.append("The place in the table could not be read; this is its beginning.")
    return address, notices
