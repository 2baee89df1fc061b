"""What the file of expected results says is what the reference computes."""

import numpy as np
import pytest

from glsw.engines import proof, proof_expected
from glsw.scoring.scoring import Scoring


def test_the_file_has_what_the_reference_computes():
    """If the work of proofs has changed: python -m glsw.engines.proof_expected."""
    known, expected = proof_expected.stored(), proof_expected.everything()
    assert known.keys() == expected.keys()
    for name, values in expected.items():
        assert np.array_equal(known[name], values), name


@pytest.mark.parametrize("scoring", proof_expected.usual_scorings(), ids=lambda each: each.name)
def test_proofs_take_it_from_there(device, scoring):
    def compute():
        raise AssertionError("it is known")

    proofs = proof.Proofs(device)
    batch = proof.awkward(scoring, proof.LARGEST)
    ends = proofs.expected(scoring, f"ends {proof.LARGEST}", compute)
    again = proof.ends_by_reference(scoring, batch)
    assert np.array_equal(ends.end, again.end)
    paths = proofs.expected(scoring, f"paths {proof.LARGEST}", compute)
    host = proof.traced(batch, scoring, ends.end)
    assert all(map(np.array_equal, paths, host))


@pytest.mark.parametrize(
    "scoring",
    [
        Scoring.blast("BLOSUM62", 10, 1),
        Scoring.blast().in_mode("global"),
        Scoring.named("PAM250", 11, 1),
        None,
    ],
    ids=str,
)
def test_of_other_scorings_nothing_is_known(scoring):
    assert proof_expected.of(scoring, f"ends {proof.SMALLEST}") is None
