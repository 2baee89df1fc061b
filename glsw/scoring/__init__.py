"""What pairs of letters and gaps score."""
