"""A registry in a database that this process opens itself."""
