"""Profiles: queries whose scores depend on the position, and files of them."""
