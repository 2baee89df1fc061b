"""Scoring: substitution scores and gap costs."""
