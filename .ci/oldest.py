"""Print constraints for pip that pin every dependency to the lowest version it may have.

Of several bounds the lowest counts: an extra may need more. Tools of development are left out.
"""

from __future__ import annotations

import re
import tomllib
from itertools import chain
from pathlib import Path

PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"
TOOLS = {"audit", "dev", "fuzz", "integrations"}
LOWEST = re.compile(r"([\w-]+)(?:\[[\w,-]+\])?>=([\w.]+)")


def main() -> None:
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    groups = [project["dependencies"]]
    groups += (
        group for name, group in project["optional-dependencies"].items() if name not in TOOLS
    )
    lowest: dict[str, tuple[int, ...]] = {}
    for found in filter(None, map(LOWEST.match, chain.from_iterable(groups))):
        version = tuple(map(int, found[2].split(".")))
        lowest[found[1]] = min(version, lowest.get(found[1], version))
    for name, version in sorted(lowest.items()):
        print(f"{name}=={'.'.join(map(str, version))}")


if __name__ == "__main__":
    main()
