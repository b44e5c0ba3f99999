"""Users, their roles and sessions, API tokens, share links and sign-in by OpenID Connect."""
