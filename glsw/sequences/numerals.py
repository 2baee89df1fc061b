"""Text that is a number; a module of its own, since the command line starts with few imports."""

from __future__ import annotations


def is_number(text: str) -> bool:
    """Tell whether a text is a number as `float` reads it.

    >>> [is_number(text) for text in ("-1e-4", "nan", "1,5", "")]
    [True, True, False, False]
    """
    try:
        float(text)
    except ValueError:
        return False
    return True
