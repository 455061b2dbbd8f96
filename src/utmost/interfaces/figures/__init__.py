"""Pictures of values: matplotlib figures (the extra ``[plot]``), charts as SVG, and cards for notebooks."""
