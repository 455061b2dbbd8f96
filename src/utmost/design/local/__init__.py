"""Draw reports in the local model, where clients randomise their categories or words, and estimate counts from them."""
