"""The ledger: releases kept for years, relaxed at any time, and nothing said twice."""
