"""How the outside enters: the command line, tables and plots. No mathematics here."""
