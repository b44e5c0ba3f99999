"""Users, their roles and sessions, the tokens of programs, and what all of them changed."""
