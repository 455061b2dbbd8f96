"""Consumers meet channels: remaps, optimal mechanisms, and certificates of how near the best they are."""
