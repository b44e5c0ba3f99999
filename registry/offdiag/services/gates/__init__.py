"""Gates: the conditions that a run has to meet, and the values they compare."""
