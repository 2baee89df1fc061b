"""Exact dot plots: the best local score through each tile of a table, as pictures and arrays."""
