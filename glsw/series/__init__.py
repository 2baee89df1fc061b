"""Time series as words of letters, and the segments that channels of a recording share."""
