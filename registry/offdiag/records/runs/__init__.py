"""Documents of runs, their results and comparisons."""
