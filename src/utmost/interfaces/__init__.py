"""Entrances and exits: the command line, the service, figures, files, other packages, the papers."""
