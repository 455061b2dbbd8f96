"""The papers' pictures, drawn anew with matplotlib (the extra ``[plot]``): one file a kind of picture."""
