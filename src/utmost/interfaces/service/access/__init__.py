"""Rights of callers: tokens, sign-in, sessions, rate limits."""
