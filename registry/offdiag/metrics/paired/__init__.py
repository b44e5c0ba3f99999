"""Two or more runs on the same samples: tests, intervals of differences, multiplicity."""
