"""Documents of runs, and of what is found in one or between several."""
