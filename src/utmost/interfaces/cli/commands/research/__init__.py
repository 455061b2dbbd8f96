"""The commands of `utmost research`, one file each: what papers prove about mechanisms, computed with proofs."""
