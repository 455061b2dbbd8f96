"""Publishing: from people to a table that is remembered over years."""
