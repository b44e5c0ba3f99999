"""What SQL can be asked about: five flat relations over the registry, as Arrow record batches.

They are read run by run and chunk by chunk, so that the predictions of a whole registry can
pass by without being in memory at once. Deleted runs are in none of them.
"""
