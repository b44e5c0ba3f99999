"""What a query wants of a relation: its columns, and a condition on its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.dataset as ds
from pyarrow import fs


@dataclass(frozen=True, eq=False)
class Wanted:
    """Columns in order, among them those of the `condition` on rows, if there is one."""

    schema: pa.Schema
    condition: ds.Expression | None

    @classmethod
    def of(
        cls, schema: pa.Schema, columns: Sequence[str] | None, condition: ds.Expression | None
    ) -> Wanted:
        """All columns where none are named."""
        if columns is None:
            return cls(schema, condition)
        # An expression does not tell its columns. A name that merely occurs in its text costs
        # a column too many and is never wrong.
        text = "" if condition is None else str(condition)
        fields = [field for field in schema if field.name in columns or field.name in text]
        return cls(pa.schema(fields), condition)

    def __contains__(self, column: str) -> bool:
        return column in self.schema.names

    def possible(self, guarantees: Sequence[ds.Expression]) -> list[int]:
        """Which of the guarantees leave it possible that the condition holds.

        A guarantee is what is known of all rows of some part, such as that they are of one run.
        """
        if self.condition is None:
            return list(range(len(guarantees)))
        # Arrow leaves out files by what is known of their partition; none is ever opened.
        parts = ds.FileSystemDataset.from_paths(
            [str(number) for number in range(len(guarantees))],
            schema=self.schema,
            format=ds.IpcFileFormat(),
            filesystem=fs.LocalFileSystem(),
            partitions=list(guarantees),
        )
        return [int(part.path) for part in parts.get_fragments(filter=self.condition)]
