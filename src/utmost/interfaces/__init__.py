"""Where words come in and facts go out: the command line, the service, figures, files, other packages, the papers."""
