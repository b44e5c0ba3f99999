"""Pages to sign in, and to manage users, tokens, share links and the audit log."""
