"""Parts of pages about runs: header and tabs of a run, its statement, rows of lists, exports."""
