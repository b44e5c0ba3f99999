"""Components that several pages use: matrix, tiles, classes, flags, rows of runs, numbers."""
