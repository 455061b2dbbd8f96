"""The local model: clients randomise their categories or words themselves, and the collector estimates counts."""
