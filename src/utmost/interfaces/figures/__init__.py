"""The papers' pictures, drawn anew with matplotlib (the extra ``[plot]``): one file for each kind of picture."""
