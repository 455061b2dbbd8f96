"""HTML pages of the service: sign-in, forms for each action, and releases with charts."""
