"""What a server loads when it starts stays for good, so nobody has to look whether it is garbage.

Python looks through everything that has lived for a while whenever a quarter has been added. Of
the 230,000 objects that a dashboard starts with that takes a fifth of a second, in the middle of
a request.
"""

from __future__ import annotations

import gc


def settle() -> None:
    """Let the garbage collector pass by everything that is there now; for programs that serve."""
    gc.collect()
    gc.freeze()
