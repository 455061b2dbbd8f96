"""The HTTP API: routes, request and response models, errors as problem details."""
