"""A relation as DuckDB sees it: an Arrow dataset that is read anew by every scan.

DuckDB hands an Arrow dataset the columns a scan needs and those conditions on rows that Arrow
understands, so what nobody asked for is never read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.dataset as ds

from offdiag.store.relations.columns import Wanted


class Relation(ds.Dataset):  # type: ignore[misc]  # The library ships no types.
    """Rows that `read` brings, table by table, whenever they are scanned.

    An error that ends a scan is kept in `failure`: DuckDB passes on its text alone.
    """

    def __init__(self, schema: pa.Schema, read: Callable[[Wanted], Iterator[pa.Table]]) -> None:
        # The base class can be made by Arrow alone, and all of it that is used is below.
        self._schema = schema
        self._read = read
        self.failure: Exception | None = None

    @property
    def schema(self) -> pa.Schema:
        """All columns."""
        return self._schema

    def scanner(
        self,
        columns: Sequence[str] | None = None,
        filter: ds.Expression | None = None,  # noqa: A002 - the name is Arrow's
        **_options: object,
    ) -> Scan:
        """What one scan wants: some columns of the rows that fulfil a condition."""
        shown = self._schema.names if columns is None else list(columns)
        wanted = Wanted.of(self._schema, columns, filter)
        schema = pa.schema([self._schema.field(name) for name in shown])
        return Scan(pa.RecordBatchReader.from_batches(schema, self._batches(shown, wanted)))

    def _batches(self, shown: Sequence[str], wanted: Wanted) -> Iterator[pa.RecordBatch]:
        try:
            for table in self._read(wanted):
                found = table if wanted.condition is None else table.filter(wanted.condition)
                yield from found.select(shown).to_batches()
        except Exception as error:
            self.failure = error
            raise


@dataclass(frozen=True, eq=False)
class Scan:
    """One reading of a relation, from its first row to wherever DuckDB has seen enough."""

    reader: pa.RecordBatchReader

    def to_reader(self) -> pa.RecordBatchReader:
        """Batch by batch; what is not asked for any more is not read."""
        return self.reader
