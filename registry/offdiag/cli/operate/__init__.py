"""Commands that set up, run and maintain a registry, and sign in to one."""
