"""The version of glsw."""

__version__ = "0.1.0"
