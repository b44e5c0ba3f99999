"""Signing in, and users, tokens and the audit log of those who manage them."""
