"""From people to a published table, remembered over years."""
