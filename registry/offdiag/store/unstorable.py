"""Values that a driver cannot hand to its database, told like any other wrong input.

What is written is checked where its field is known. What is only looked for comes from
addresses, filters and arguments, and nothing has such a name.
"""

from __future__ import annotations

from sqlalchemy import Engine, event
from sqlalchemy.engine import ExceptionContext

from offdiag.errors import InvalidInput


def tell_unstorable(engine: Engine) -> None:
    """Raise `InvalidInput` for text and numbers that the driver refuses by themselves."""
    event.listen(engine, "handle_error", _tell)


def _tell(context: ExceptionContext) -> None:
    error = context.original_exception
    if isinstance(error, UnicodeEncodeError):
        what = f"{error.object[:40]!r} is no Unicode text"
    elif isinstance(error, OverflowError):
        what = "a number has more than 63 bits"
    elif type(error).__name__ == "DataError" and "NUL (0x00)" in str(error):
        what = "a text has a NUL character"
    else:
        return
    raise InvalidInput(f"{what}.", hint="Nothing stored has it; correct it.") from error
