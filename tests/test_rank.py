"""Which device a process takes: that of its number on the host, and never a software renderer."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

import glsw
from glsw import rank
from glsw.device.device import Device, DeviceError
from glsw.engines import spec
from glsw.engines.spec import device_of_rank
from glsw.rank import local_rank


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in rank.RANKS:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def four(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four devices, of which those at 1 and 3 are hardware."""
    listed = [replace(device.info, index=k, software=k % 2 == 0, version=(4, 6)) for k in range(4)]
    monkeypatch.setattr(spec, "devices", lambda: listed)


@pytest.mark.parametrize("name", rank.RANKS)
def test_numbers_of_launchers(name: str, four: None, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (local_rank(), device_of_rank((4, 3))) == (None, 1)
    monkeypatch.setenv(name, "1")
    assert (local_rank(), device_of_rank((4, 3))) == ((1, name), 3)
    monkeypatch.setenv(name, "2")
    with pytest.raises(DeviceError, match=rf"^device 'auto': {name} is number 2 of its .* 2 "):
        device_of_rank((4, 3))


def test_mpi_in_a_job_of_slurm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURM_LOCALID", "0")
    monkeypatch.setenv("OMPI_COMM_WORLD_LOCAL_RANK", "3")
    assert local_rank() == (3, "OMPI_COMM_WORLD_LOCAL_RANK")


@pytest.mark.parametrize(
    ("name", "resources", "number"),
    [
        (3, {}, 3),
        ("2", {}, 2),
        ("host-1", {}, 1),
        ("gpu7", {}, None),
        ("tcp://127.0.0.1:3456", {}, None),
        ("host-1", {"device": 0.0}, 0),
    ],
)
def test_dask_workers(
    name: Any, resources: dict[str, float], number: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    import distributed

    worker = SimpleNamespace(name=name, state=SimpleNamespace(total_resources=resources))
    monkeypatch.setattr(distributed, "get_worker", lambda: worker)
    assert (local_rank() or (None,))[0] == number


def test_software_is_not_taken_silently(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spec, "devices", lambda: [replace(device.info, software=True)])
    with pytest.raises(DeviceError, match=r"^device 'auto': no hardware device, found .*; name a "):
        glsw.score("HEAE", "HEAE", engine="diagonal", device="auto")
    assert glsw.score("HEAE", "HEAE", engine="cpu", device="auto") == 22
