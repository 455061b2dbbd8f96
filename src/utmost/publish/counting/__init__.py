"""Events counted into tables over a declared domain, with a proof of what one person can change."""
