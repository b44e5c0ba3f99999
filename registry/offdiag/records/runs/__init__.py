"""Documents of runs, and of findings within a run or between runs."""
