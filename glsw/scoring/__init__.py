"""What pairs of letters, gaps and columns of three letters score."""
