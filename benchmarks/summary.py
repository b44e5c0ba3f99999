"""Write README.md from the results next to it: one line for each goal, met or missed.

Results that have a page in docs/contributing are left out.

python benchmarks/summary.py
"""

from __future__ import annotations

import json
from pathlib import Path

from harness import RESULTS
from result_table import result_table

README = Path(__file__).parent / "README.md"

INTRODUCTION = """\
# Benchmarks

`make bench` runs the quick set, `make bench-full` all. Each script alternates its variants within
one process, so that a busy machine affects all of them alike; goals are ratios between medians of
the same run. Absolute times depend on the machine and its load, which are listed with them.
`flag_rates.py` and `audit_tables.py` are simulations of rates, not times.

`make house` measures the structure of the code, such as the number of files and how many of them a
use case executes. Its goals are targets; missed ones show the distance. `make mutations` changes
single lines in a copy of the code and counts the changes that the tests detect.

`make peers` compares offdiag with MLflow, Evidently, PyCM, scikit-learn and torchmetrics on the
same arrays. Each runs in its own process and environment; all alternate within one run, and values
with equal definitions must agree.

Other results have pages of their own: [error rates](../docs/contributing/claims.md),
[faults](../docs/contributing/reliability.md) of `make storm` and `make soak`, and
[load](../docs/contributing/load.md).

Written by `summary.py` from `results/`. Measure again on a quiet machine before comparing.
"""


ON_PAGES = ("claims", "load-", "soak", "storm")
"""How the names of results begin that pages in docs/contributing show."""


def main() -> None:
    results = [json.loads(path.read_text()) for path in sorted(RESULTS.glob("*.json"))]
    sections = [
        f"## {each['name']}\n\n{result_table(each)}\n"
        for each in results
        if not each["name"].startswith(ON_PAGES)
    ]
    README.write_text("\n".join([INTRODUCTION, *sections]), encoding="utf-8")


if __name__ == "__main__":
    main()
