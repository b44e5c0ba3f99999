"""DuckDB shut in: it computes, and reaches neither files nor the network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from offdiag.errors import InvalidInput
from offdiag.inputs.scratch import scratch_folder

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from offdiag.services.querying.relation import Relation

_BEFORE = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
}


@contextmanager
def engine_over(relations: Mapping[str, Relation]) -> Iterator[DuckDBPyConnection]:
    """An engine that knows the relations and nothing else, for as long as the block takes.

    What does not fit into memory it puts into a temporary folder of its own. Raises
    `StorageFull` where there can be none.
    """
    import duckdb

    with (
        scratch_folder("sql") as folder,
        closing(
            duckdb.connect(":memory:", config={**_BEFORE, "temp_directory": str(folder)})
        ) as engine,
    ):
        for name, relation in relations.items():
            engine.register(name, relation)
        engine.execute("SET TimeZone = 'UTC'")
        # In this order, and last: from here on, nothing said in SQL can take it back.
        engine.execute("SET enable_external_access = false")
        engine.execute("SET lock_configuration = true")
        yield engine


def require_one_question(engine: DuckDBPyConnection, text: str) -> None:
    """Raise `InvalidInput` unless the text is one statement that only reads."""
    from duckdb import Error, StatementType

    try:
        statements = engine.extract_statements(text)
    except Error as error:
        raise refused(error) from error
    reading = (StatementType.SELECT, StatementType.EXPLAIN)
    if len(statements) != 1 or statements[0].type not in reading:
        raise InvalidInput(
            f"these are {len(statements)} statements."
            if len(statements) != 1
            else f"{statements[0].type.name} is no question.",
            field="query",
            hint="Ask one question: SELECT, DESCRIBE, SUMMARIZE or EXPLAIN.",
        )


def refused(error: Exception) -> InvalidInput:
    """What DuckDB says about a query, without the copy of the query under it."""
    text, _, _ = str(error).partition("\n\nLINE ")
    sentence = " ".join(text.split())
    return InvalidInput(
        sentence if sentence.endswith((".", "?", "!")) else f"{sentence}.",
        field="query",
        hint="SHOW TABLES and DESCRIBE runs tell what there is.",
    )
