"""Gates: the conditions a run has to meet, and the numbers they compare."""
