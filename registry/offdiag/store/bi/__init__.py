"""What other programs may read of a PostgreSQL registry: views under names that stay.

Tables change with the schema, and hold tokens and passwords. The views lie in a schema of their
own, so that a role can be given them and nothing else.
"""
