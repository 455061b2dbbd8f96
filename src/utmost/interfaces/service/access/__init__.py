"""Who may do what: tokens, sign-in, sessions, rate limits."""
