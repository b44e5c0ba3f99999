"""The five flat relations that SQL queries see, read from the registry as Arrow record batches.

They are read run by run and chunk by chunk, so that the predictions of a whole registry are never
in memory at once. Deleted runs are in none of them.
"""
