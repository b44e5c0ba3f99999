"""What `import offdiag` costs a training job: fresh interpreters, compared with other imports.

    python benchmarks/import_time.py [--full]

`--full` takes more turns. The libraries imported are named in each variant; a bare interpreter is
the lower bound. The untimed first call caches bytecode, as on a user's machine.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from harness import Report, wants_everything

BARE = "pass"
PROGRAMS = {
    BARE: "bare interpreter",
    "import offdiag": "import offdiag",
    "import numpy": "import numpy",
    "import offdiag; offdiag.evaluate_matrix": "offdiag.evaluate_matrix, ready to be called",
    "import offdiag; offdiag.log_run": "offdiag.log_run, ready to be called",
    "import pandas": "import pandas",
    "import sklearn.metrics": "import sklearn.metrics",
}
WANTED_S = 0.050


def main() -> None:
    everything = wants_everything(__doc__ or "")
    report = Report("import_time", libraries=("numpy", "pandas", "scikit-learn", "sqlalchemy"))
    timings = report.measure(
        "fresh interpreter",
        {name: _interpreter(program) for program, name in PROGRAMS.items()},
        turns=21 if everything else 7,
    )
    floor = timings[PROGRAMS[BARE]].median_s
    added = timings["import offdiag"].median_s - floor
    report.fact("import offdiag adds, ms", round(added * 1e3, 2))
    report.goal("import offdiag over bare, s", measured=added, wanted=WANTED_S, at_least=False)
    report.save()


def _interpreter(program: str) -> Callable[[], object]:
    # The environment of the source tree may forbid bytecode; users have it.
    environment = {
        name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
    }
    # Python adds the working directory to its path; that of the benchmarks holds no package.
    folder = Path(__file__).parent

    def run() -> object:
        return subprocess.run(
            [sys.executable, "-c", program], check=True, env=environment, cwd=folder
        )

    return run


if __name__ == "__main__":
    main()
