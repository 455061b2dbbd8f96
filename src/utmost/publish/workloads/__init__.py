"""What sums are wanted, and which strategy measures them."""
