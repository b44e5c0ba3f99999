"""The revisions. They import no application code: it changes, and they must not."""
