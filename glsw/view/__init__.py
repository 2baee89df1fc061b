"""A window on a dot plot: zoom, move, and watch it being computed."""
