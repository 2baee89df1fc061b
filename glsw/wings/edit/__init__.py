"""Edit distances of sequences in any letters."""
