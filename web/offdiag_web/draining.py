"""Old name of `offdiag_web.shutdown`, which files copied from the gunicorn example still import.

It goes one release after the new name appeared.
"""

from offdiag_web.shutdown import announce_stop

__all__ = ["announce_stop"]
