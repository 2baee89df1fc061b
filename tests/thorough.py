"""What `make test` leaves to `make test-all` and the continuous integration.

By file, the tests that take long and of which a shorter one, a smaller choice of the same, stays:
regular expressions for the name. `tests/changed.py` runs them for what changed. Without them,
engines prove their programs for llvmpipe only in tests of devices and of faults (`PROVED` in
`conftest.py`): proofs for the scorings of all other tests, which compare results themselves, take a
third of the time.
"""

from __future__ import annotations

import re

_BETWEEN = (
    r"\[(fragment-tile4|blocked-workgroup2-columns16|scan-workgroup4|scan-formblocks"
    r"|lanes-rows8-workgroup4\])"
)
THOROUGH = {
    # Other compilers than that of the device: OpenGL 3.3 and softpipe stay.
    "engines/test_implementations.py": (
        r"test_engines_everywhere\[(zink|swiftshader|gl41)\]",
        "test_validator_reads_every_permutation",
    ),
    "wings/three/test_implementations3.py": ("test_engines_elsewhere",),
    # All cases with options between the usual ones and those of the smallest tiles.
    "engines/test_engines.py": (
        rf"test_(equals_the_reference|small_chunks){_BETWEEN}",
        "test_engines_take_turns_on_a_device",
    ),
    "engines/test_ends.py": (
        rf"test_(equals_the_reference|relatives_across_many_tiles){_BETWEEN}",
        "test_reference_(is_the_definition|has_insertions|equals_biopython)",
    ),
    "engines/test_leaning.py": (
        r"test_any_end_gaps\[.*(tile|workgroup)",
        r"test_tiles_of_any_form\[(True-False|False-True)",
    ),
    # How subgroups are filled does not depend on the scoring: one stays with each layout.
    "engines/test_subgroups.py": (r"test_(lanes|scan)\[(?!BLOSUM62 12 1)", "test_on_zink"),
    "engines/test_progress.py": (r"test_all_cells_are_reported_once\[1-",),
    "engines/test_positional_gaps.py": (
        r"test_lanes_with_each_kind_of_free_ends\[(linear|large)\]",
    ),
    "engines/test_lanes.py": (r"test_trials_of_what_hardware_computes\[f32\]",),
    "engines/test_lanes_rows.py": (r"test_scores_are_those_of_the_reference\[options[12]",),
    "engines/test_end_to_end.py": (
        r"test_(scans|pairs)_of_hardware\[(semi-global|free ends of the query|linear)",
    ),
    "wings/three/test_engines3.py": (
        r"test_(equals_the_reference|longer_sequences|triples_share_sequences)\w*\[subtable\]",
        "test_(oracle|reference)_equals_",
        "test_disjoint_alignments_of_the_reference_equal_those_of_the_oracle",
        "test_cases_have_every_column",
        "test_tiles_that_wait_for_one_another",
        "test_engines_take_turns_on_a_device",
    ),
    "wings/three/test_align3.py": (
        r"test_a_(share_that_fails_twice_is_an_error|failed_share_is_repeated)\[(plane|subtable)",
    ),
    "wings/three/test_mistakes3.py": (r"test_more_alignments_than_there_can_be\[1e30\]",),
    # Each wing alone: that all can be closed stays.
    "test_wings.py": ("test_a_wing_can_be_closed",),
    # Faults of drivers, one by one; a few stay.
    "faults/test_driver_faults.py": (
        r"test_a_fault_is_caught_and_results_are_right"
        r"\[(?!no barrier in (chains|diagonal)|a maximum|scores are|no program compiles|atomicMax)",
    ),
    # Packages, the site, notebooks, and the tool that measures the house.
    "wings/all/test_pages.py": ("test_measures_of_the_house",),
    "wings/all/test_packaging.py": ("test_archives_install_into_an_empty_environment",),
    "wings/all/test_docs.py": ("test_site_builds_without_warnings", "test_notebooks_run"),
}


def is_thorough(path: str, name: str) -> bool:
    """Tell whether a test, by its file below ``tests`` and its name, is left out."""
    return any(re.match(each, name) for each in THOROUGH.get(path, ()))
