"""Events counted into tables over a declared domain, which proves what one person can change."""
