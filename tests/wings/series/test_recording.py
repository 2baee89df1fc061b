"""Recordings: what is read from tables and SNIRF files, and one clear line for what cannot be."""

from __future__ import annotations

import re
import shutil
import sys
import types
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

from glsw.wings.series.readers import read
from glsw.wings.series.recording import Recording
from glsw.wings.series.words import words_of

HEAD = "Probe1(Oxy),CH1,CH2,Mark,Time,BodyMovement,RemovalMark,PreScan\n"
HITACHI = f"""Header
File Version,1.08
Patient Information
ID,7
Name,"a, b"
Sampling Period[s],0.1,,,
Exception Ch,0,0

Data
{HEAD}1,0.5,-1,0,23:59:59.85,0,0,0
2,0.25,,1Z,23:59:59.95,0,0,0
3,0.125,2e-1,0,00:00:00.05,0,0,1
"""


@pytest.fixture
def table(tmp_path: Path) -> Callable[..., Path]:
    """``table(text)``: a file that has it."""

    def table(text: str | bytes, name: str = "r.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return table


def recording(channels: int = 3, samples: int = 6) -> Recording:
    values = np.arange(channels * samples, dtype=float).reshape(channels, samples)
    names = tuple(f"S{k + 1}_D1 {'HbO' if k % 2 == 0 else 'HbR'}" for k in range(channels))
    return Recording("r", names, values, np.arange(samples) / 2)


# tables


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("time,a,b\n0.5,1,4\n1,2,\n1.5,3,NA\n", "r.csv"),
        ("# by hand\n\nTime (s);a;b\n0.5;1;4\n1;2;nan\n\n1.5;3;NaN\n", "r.CSV"),
        ("a\tb\tt\n1\t4\t0.5\n2\tn/a\t1\n3\t\t1.5\n", "r.tsv"),
        ('\ufeff"a",  "b","seconds",,\r\n1, 4,0.5,,\r\n2,NA,1\r\n3,nan,1.50,\r\n', "r.txt"),
    ],
)
def test_tables_of_any_dialect(table: Callable[..., Path], text: str, name: str) -> None:
    found = read(table(text, name))
    assert (found.name, found.channels, found.kind) == (name, ("a", "b"), "")
    np.testing.assert_array_equal(found.values, [[1, 2, 3], [4, np.nan, np.nan]])
    assert found.times.tolist() == [0.5, 1, 1.5]


def test_a_rate_stands_in_for_times(table: Callable[..., Path]) -> None:
    path = table("a\n1\n2\n3\n")
    assert read(path, rate=4).times.tolist() == [0, 0.25, 0.5]
    with pytest.raises(ValueError, match=r"r\.csv: no column is called time; rate=HZ gives"):
        read(path)
    with pytest.raises(ValueError, match="rate must be a positive number"):
        read(path, rate=0)


def test_hitachi_export_with_header_past_midnight(table: Callable[..., Path]) -> None:
    found = read(table(HITACHI))
    assert (found.channels, found.kind) == (("CH1", "CH2"), "Oxy")
    np.testing.assert_array_equal(found.values, [[0.5, 0.25, 0.125], [-1, np.nan, 0.2]])
    assert found.times.tolist() == [0, 0.1, 0.2]


def test_hitachi_export_without_times_has_a_period(table: Callable[..., Path]) -> None:
    text = HITACHI.replace("Time", "Clock").replace("0.1,,,", "0.25,,,")
    assert read(table(text)).times.tolist() == [0, 0.25, 0.5]


def test_hitachi_table_alone_and_raw(table: Callable[..., Path]) -> None:
    text = "Probe2,CH1(703.6),CH1(829.0),Mark,Time\n1,1,2,0,1:00:00\n2,3,4,0,1:00:00.5\n"
    found = read(table(text))
    assert (found.channels, found.kind) == (("CH1(703.6)", "CH1(829.0)"), "")
    assert found.times.tolist() == [0, 0.5]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "r.csv: the file is empty"),
        ("\n \n# only this\n", "r.csv: the file is empty"),
        ("time,a\n", "r.csv: 0 samples, at least 2 expected"),
        ("time,a\n0,1\n", "r.csv: 1 sample, at least 2 expected"),
        ("time,a\n0,1\n1,x y\n", "r.csv:3: column 'a': 'x y' is not a number"),
        ("time,a\n0,1\n\n1,-inf\n", "r.csv:4: column 'a': -inf is not finite"),
        ("time,a\n0,1\n" + "1," + "z" * 99, f"r.csv:3: column 'a': '{'z' * 20}...' is not a"),
        ("time,a,b\n0,1,2\n1,2\n", "r.csv:3: 3 cells expected, one per column, got 2"),
        ("time,a\n0,1\n1,2,3\n", "r.csv:3: 2 cells expected, one per column, got 3"),
        ("time,a\n0,1\n0.5,1\n0.4,1\n", "r.csv:4: column 'time': '0.4' as a time after 0.5 s"),
        ("time,a\n,1\n1,1\n", "r.csv:2: column 'time': '' as a time the first"),
        ("time,a\n3,1\n3,1\n", "r.csv: all samples have the time 3 s"),
        ("time\n3\n4\n", "r.csv:1: no column but 'time'"),
        ("0,1\n1,2\n", "r.csv:1: a header line with names of columns expected, got numbers"),
        ("time,a,a\n0,1,2\n", "r.csv:1: two columns are called 'a'"),
        ("time,,b\n0,1,2\n", "r.csv:1: column 2 has no name"),
        ('time,a\n0,1\n"' + "x" * 200_000, "r.csv:3: field larger than field limit"),
        ("Header\nID,1\n", "r.csv: no line begins with Probe after the Hitachi header"),
        ("Probe1,A,Time\n1,2,3\n", "r.csv:1: no column is named CH..., as channels are"),
        (f"{HEAD}1,1,1,0,10:00:00,0,0,0\n2,1,1,0,09:00:00,0,0,0\n", "r.csv:3: column 'Time'"),
        (f"{HEAD}1,1,1,0,noon,0,0,0\n", "r.csv:2: column 'Time': 'noon' is not a number"),
        (HITACHI.replace("[s],0.1", "[s],fast"), "r.csv:6: column 'Sampling Period[s]': 'fast'"),
        (b"\xff\xfet\0i\0m\0e\0", "r.csv: no column is called time"),
        (b"PK\x03\x04\x00\x01" * 9, "r.csv"),
    ],
)
def test_bad_tables_are_one_line(
    table: Callable[..., Path], text: str | bytes, message: str
) -> None:
    path = table(text)
    with pytest.raises(ValueError, match=re.escape(message)) as error:
        read(path)
    assert str(error.value).startswith(str(path))
    assert len(str(error.value).splitlines()) == 1


def test_files_of_no_known_kind(table: Callable[..., Path], tmp_path: Path) -> None:
    for name, message in (
        ("r.xlsx", "neither HDF5, as .snirf files are, nor named .csv, .tsv, .txt"),
        ("r", "neither HDF5"),
        ("r.snirf", "a .snirf file is HDF5, this is not"),
    ):
        with pytest.raises(ValueError, match=message):
            read(table("time,a\n0,1\n", name))
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "none.csv")
    with pytest.raises(IsADirectoryError):
        read(tmp_path)
    with pytest.raises(ValueError, match=r"only \.snirf files have several"):
        read(table("time,a\n0,1\n"), block=1)
    with pytest.raises(ValueError, match="column 'time' has times, no rate"):
        read(table("time,a\n0,1\n"), rate=3)


# what is chosen


@pytest.mark.parametrize(
    ("channels", "expected"),
    [
        (None, [0, 1, 2, 3, 4]),
        ("2", [1]),
        ("4-2,1", [3, 2, 1, 0]),
        ("*hbo", [0, 2, 4]),
        ("S2_D1 HbR, s1_d1 hbo", [1, 0]),
        ("S2_D1 HbR-4", [1, 2, 3]),
        ("5,*", [4, 0, 1, 2, 3]),
        (["S?_D1 HbR", 1], [1, 3, 0]),
    ],
)
def test_channels_are_chosen(channels: Any, expected: list[int]) -> None:
    whole = recording(5)
    found = whole.select(channels)
    assert found.channels == tuple(whole.channels[k] for k in expected)
    np.testing.assert_array_equal(found.values, whole.values[expected])


def test_a_channel_whose_name_is_a_number_comes_before_the_number() -> None:
    names = ("2", "1", "left-right", "left", "Left")
    whole = Recording("r", names, np.zeros((5, 2)), np.arange(2.0))
    assert whole.select("2,3").channels == ("2", "left-right")
    assert whole.select("left-right").channels == ("left-right",)
    assert whole.select("Left").channels == ("Left",)
    assert whole.select("LEFT").channels == ("left", "Left")


def test_time_is_chosen_from_and_to_before() -> None:
    found = recording().select(start=0.5, end=2)
    assert found.times.tolist() == [0.5, 1, 1.5]
    assert found.values[0].tolist() == [1, 2, 3]
    assert found.edges.tolist() == [0.5, 1, 1.5, 2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"channels": "7"}, "r: no channel '7'; its 3 channels: S1_D1 HbO, S2_D1 HbR, S3_D1 HbO"),
        ({"channels": "0-2"}, "r: no channel '0-2'"),
        ({"channels": "*780*"}, "r: no channel '*780*'"),
        ({"channels": ""}, "r: no channel ''"),
        ({"channels": []}, "r: no channels chosen"),
        ({"start": 2.1}, "r: 1 samples from 2.1 to inf s, at least 2 expected; the recording is"),
        ({"start": 2, "end": 1}, "r: 0 samples from 2 to 1 s"),
    ],
)
def test_what_is_not_there_cannot_be_chosen(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        recording().select(**options)


def test_an_array_of_more_channels_than_samples_is_a_warning() -> None:
    with pytest.warns(RuntimeWarning, match="^3 channels of 2 samples: an array has the shape"):
        Recording.of(np.eye(3)[:, :2], rate=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Recording.of(np.eye(3), rate=1)
        Recording.of(np.eye(3)[:, :2], rate=1, names="abc")


def test_gaps_in_time_are_found() -> None:
    values = np.zeros((1, 5))
    assert Recording("r", ("a",), values, np.array([0, 1, 2, 3.5, 4.5])).gap is None
    assert Recording("r", ("a",), values, np.array([0, 1, 2, 5, 6.0])).gap == (2, 5)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ((("a",), np.zeros((2, 3)), np.arange(3.0)), "must have shape (1, 3), not (2, 3)"),
        ((("a", "a"), np.zeros((2, 3)), np.arange(3.0)), "two channels are called 'a'"),
        ((("a",), np.zeros((1, 1)), np.arange(1.0)), "1 sample, at least 2 expected"),
        ((("a",), np.zeros((1, 2)), np.array([1.0, 0])), "must be finite and not decrease"),
        ((("a",), np.zeros((1, 2)), np.array([1, np.nan])), "must be finite and not decrease"),
        ((("a",), np.zeros((1, 2)), np.ones(2)), "all samples have the time 1 s"),
    ],
)
def test_recordings_are_checked(parts: Any, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        Recording("r", *parts)


# what is missing


def test_missing_samples_are_named() -> None:
    whole = recording(6, 8)
    holes = [(0, slice(None)), (1, slice(None)), (2, slice(2, 4)), (2, 6), (4, 7)]
    for hole in holes:
        whole.values[hole] = np.nan
    expected = (
        "r: nan in all 8 samples of 2 channels (S1_D1 HbO, S2_D1 HbR); samples 3-4, 7 of channel "
        'S3_D1 HbO; sample 8 of channel S5_D1 HbO; missing="skip" goes on'
    )
    with pytest.raises(ValueError, match=re.escape(expected)):
        whole.without_missing()
    left, out = whole.without_missing("skip")
    assert out == whole.channels[:2]
    assert left.channels == whole.channels[2:]
    np.testing.assert_array_equal(left.values, whole.values[2:])
    with pytest.raises(ValueError, match="all samples of all channels are nan"):
        whole.select("1-2").without_missing("skip")
    with pytest.raises(ValueError, match='missing must be "error" or "skip"'):
        whole.without_missing("maybe")  # type: ignore[arg-type]


def test_much_that_is_missing_is_still_one_line() -> None:
    whole = recording(40, 50)
    for k in range(40):
        whole.values[k, k::3] = np.nan
    with pytest.raises(ValueError, match='; 37 more; missing="skip" goes on') as error:
        whole.without_missing()
    assert len(str(error.value)) < 400


# SNIRF


@pytest.fixture
def snirf(tmp_path: Path) -> Callable[..., Path]:
    """``snirf(fields)``: a SNIRF file with changes, by path; None takes something away."""
    h5py = pytest.importorskip("h5py", reason="the extra series is not installed")

    def snirf(changes: dict[str, Any] | None = None, name: str = "r.snirf") -> Path:
        fields: dict[str, Any] = {
            "formatVersion": "1.1",
            "nirs/metaDataTags/TimeUnit": "s",
            "nirs/probe/wavelengths": [760.0, 850.0],
            "nirs/data1/dataTimeSeries": np.arange(12.0).reshape(4, 3),
            "nirs/data1/time": [1.0, 1.5, 2.0, 2.5],
        }
        for k, wavelength in enumerate((1, 2, 1)):
            group = f"nirs/data1/measurementList{k + 1}"
            fields |= {
                f"{group}/sourceIndex": 1 + k // 2,
                f"{group}/detectorIndex": 2,
                f"{group}/wavelengthIndex": wavelength,
                f"{group}/dataType": 1,
            }
        path = tmp_path / name
        with h5py.File(path, "w") as file:
            for field, value in (fields | (changes or {})).items():
                if value is not None:
                    file[field] = value
        return path

    return snirf


def processed(*labels: Any, index: int = 0) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for k, label in enumerate(labels, start=1):
        group = f"nirs/data1/measurementList{k}"
        fields |= {f"{group}/dataType": 99999, f"{group}/dataTypeLabel": label}
        fields[f"{group}/wavelengthIndex"] = index
    return fields


def test_snirf_raw(snirf: Callable[..., Path]) -> None:
    found = read(snirf())
    assert found.channels == ("S1_D2 760 nm", "S1_D2 850 nm", "S2_D2 760 nm")
    assert (found.name, found.kind, found.note) == ("r.snirf", "760 nm, 850 nm", "")
    np.testing.assert_array_equal(found.values, np.arange(12).reshape(4, 3).T)
    assert found.times.tolist() == [1, 1.5, 2, 2.5]


def test_snirf_is_told_by_its_content(snirf: Callable[..., Path]) -> None:
    assert read(snirf(name="r.csv")).channels == read(snirf()).channels


@pytest.mark.parametrize(
    ("labels", "index", "expected"),
    [
        (("HbO", b"HbR", np.array([b"HbT"])), 1, ("S1_D2 HbO", "S1_D2 HbR", "S2_D2 HbT")),
        (("HbO", "HbO", None), 0, ("S1_D2 HbO", "S1_D2 HbO (2)", "S2_D2 processed")),
        (
            (np.frombuffer(b"HRF HbO", np.uint8), "dOD", "HRF dOD"),
            2,
            ("S1_D2 HRF HbO", "S1_D2 850 nm dOD", "S2_D2 850 nm HRF dOD"),
        ),
    ],
)
def test_snirf_processed(
    snirf: Callable[..., Path], labels: Any, index: int, expected: tuple[str, ...]
) -> None:
    found = read(snirf(processed(*labels, index=index)))
    assert found.channels == expected


def test_snirf_labels_and_other_types(snirf: Callable[..., Path]) -> None:
    found = read(
        snirf(
            {
                "nirs/probe/sourceLabels": ["Left", "Right"],
                "nirs/probe/detectorLabels": np.array([[b"A", b"A"], [b"B", b"B"]]),
                "nirs/data1/measurementList1/dataType": np.array([102]),
                "nirs/data1/measurementList2/dataType": 777,
                "nirs/data1/measurementList3/wavelengthIndex": None,
            }
        )
    )
    assert found.channels == ("Left_B 760 nm phase", "Left_B 850 nm type 777", "Right_B")


def test_snirf_measurement_lists_offsets_and_short_times(snirf: Callable[..., Path]) -> None:
    changes: dict[str, Any] = dict.fromkeys(
        f"nirs/data1/measurementList{k}/{field}"
        for k in (1, 2, 3)
        for field in ("sourceIndex", "detectorIndex", "wavelengthIndex", "dataType")
    )
    lists = "nirs/data1/measurementLists"
    changes |= {
        f"{lists}/sourceIndex": [1, 1, 2],
        f"{lists}/detectorIndex": [[3], [4], [4]],
        f"{lists}/dataType": [99999, 99999, 1],
        f"{lists}/dataTypeLabel": ["HbO", "HbR", ""],
        f"{lists}/wavelengthIndex": [0, 0, 2],
        "nirs/data1/dataOffset": [100.0, 200.0, 300.0],
        "nirs/data1/time": [500.0, 250.0],
        "nirs/metaDataTags/TimeUnit": np.bytes_(b"ms\0"),
    }
    found = read(snirf(changes))
    assert found.channels == ("S1_D3 HbO", "S1_D4 HbR", "S2_D4 850 nm")
    np.testing.assert_allclose(found.times, [0.5, 0.75, 1, 1.25])
    np.testing.assert_array_equal(found.values[:, 0], [100, 201, 302])


def test_snirf_with_several_time_series(snirf: Callable[..., Path]) -> None:
    def block(name: str, first: float) -> dict[str, Any]:
        values = np.array([[first], [3], [4]])
        return {
            f"{name}/dataTimeSeries": values,
            f"{name}/time": [0.0, 1.0, 2.0],
            f"{name}/measurementList1/sourceIndex": 1,
            f"{name}/measurementList1/detectorIndex": 1,
            f"{name}/measurementList1/dataType": 1,
        }

    path = snirf(
        {"nirs/data1/dataTimeSeries": None}
        | block("nirs/data10", 10)
        | block("nirs/data2", 2)
        | block("nirs2/data1", 21)
    )
    found = read(path)
    assert found.values[0, 0] == 2
    assert found.note == "nirs/data2 is the first of 3 time series; block=N chooses another"
    assert [read(path, block=k).values[0, 0] for k in (1, 2, 3)] == [2, 10, 21]
    assert read(path, block=1).note == ""
    expected = "no time series 4, it has 3: nirs/data2, nirs/data10, nirs2/data1"
    with pytest.raises(ValueError, match=expected):
        read(path, block=4)
    with pytest.raises(ValueError, match="no time series 0, it has 3"):
        read(path, block=0)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"nirs/data1/dataTimeSeries": None}, "no time series: nirs/data1/dataTimeSeries is empty"),
        ({"nirs/data1/dataTimeSeries": np.zeros((0, 3))}, "no time series"),
        ({"nirs/data1/dataTimeSeries": np.zeros((4, 3, 2))}, "shape (samples, channels) expected"),
        ({"nirs/data1/dataTimeSeries": [["a", "b", "c"]] * 4}, "dataTimeSeries: numbers"),
        ({"nirs/data1/dataTimeSeries": np.zeros((3, 4))}, "time: 4 times for 3 samples"),
        ({"nirs/data1/dataTimeSeries": np.zeros((4, 5))}, "describes 3 channels of 5"),
        ({"nirs/data1/time": None}, "nirs/data1/time is absent"),
        ({"nirs/data1/time": ["a", "b", "c", "d"]}, "damaged, or not SNIRF"),
        ({"nirs/data1/time": [0.0, 1, np.nan, 3]}, "times must be finite and not decrease"),
        ({"nirs/data1/time": [3.0, 2, 1, 0]}, "times must be finite and not decrease"),
        (
            {"nirs/metaDataTags/TimeUnit": "fortnight"},
            "'fortnight' is unknown; there are s, ms",
        ),
        ({"nirs/data1/measurementList2/dataType": "raw"}, "damaged, or not SNIRF"),
        ({"nirs/data1/time": None, "nirs/data1/time/x": 1}, "damaged, or not SNIRF"),
    ],
)
def test_bad_snirf_is_one_line(
    snirf: Callable[..., Path], changes: dict[str, Any], message: str
) -> None:
    path = snirf(changes)
    with pytest.raises(ValueError, match=re.escape(message)) as error:
        read(path)
    assert str(error.value).startswith(f"{path}: ")
    assert len(str(error.value).splitlines()) == 1


def test_other_hdf5_is_no_snirf(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py", reason="the extra series is not installed")
    with h5py.File(tmp_path / "r.snirf", "w") as file:
        file["nirs"] = [1, 2]
    with pytest.raises(ValueError, match=r"r\.snirf: not SNIRF: it has no group nirs"):
        read(tmp_path / "r.snirf")


def test_truncated_snirf_is_one_line(snirf: Callable[..., Path]) -> None:
    whole = snirf().read_bytes()
    path = snirf(name="cut.snirf")
    for size in (*range(8, 600, 37), *range(600, len(whole), 997), len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(ValueError, match=r"cut\.snirf: damaged, or not SNIRF: .") as error:
            read(path)
        assert len(str(error.value).splitlines()) == 1
    path.write_bytes(whole[:5])
    with pytest.raises(ValueError, match="this is not"):
        read(path)


def test_a_size_beyond_the_file_is_one_line(snirf: Callable[..., Path]) -> None:
    h5py = pytest.importorskip("h5py", reason="the extra series is not installed")
    path = snirf({"nirs/data1/dataTimeSeries": None})
    with h5py.File(path, "r+") as file:
        file["nirs/data1"].create_dataset("dataTimeSeries", (10**12, 3), float, chunks=(8, 3))
    with pytest.raises(ValueError, match="has 3000000000000 elements, more than the file holds"):
        read(path)


def test_without_h5py_it_says_how_to_get_it(
    snirf: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = snirf()
    monkeypatch.setitem(sys.modules, "h5py", None)
    expected = re.escape("r.snirf: .snirf files need h5py: pip install 'glsw[series]'")
    with pytest.raises(ValueError, match=expected):
        read(path)


def test_rates_and_blocks_of_the_wrong_kind(snirf: Callable[..., Path]) -> None:
    with pytest.raises(ValueError, match=r"a \.snirf file has times: omit rate"):
        read(snirf(), rate=10)


# real recordings

REAL = {
    "fnirsr_Hitachi_ETG4000_24Ch_Total.dataonly.csv": (24, 3351, 335.0, "Total", "CH24"),
    "snirfsamples_Simple_Probe.snirf": (8, 1200, 120.0, "690 nm, 830 nm", "S1_D4 830 nm"),
    "snirfsamples_neuro_run01.snirf": (18, 8000, 399.34, "690 nm, 830 nm", "S4_D8 830 nm"),
    "mne_nirsport2_2021-10-01_002.snirf": (44, 2762, 271.417, "760 nm, 850 nm", "S8_D7 850 nm"),
    "mne_kernel_flow50_hb.snirf": (360, 14, 1.5948, "HbO, HbR", "S10_D10d0 HbR"),
}


@pytest.mark.realdata
@pytest.mark.parametrize("name", REAL)
def test_real_recordings(data: Path, name: str) -> None:
    channels, samples, end, kind, last = REAL[name]
    found = read(data / "fnirs" / name)
    assert found.values.shape == (channels, samples)
    assert found.times[-1] == pytest.approx(end, abs=1e-2)
    assert (found.kind, found.channels[-1], found.gap) == (kind, last, None)
    assert found.values[~np.isnan(found.values)].std() > 0


@pytest.mark.realdata
def test_real_recordings_that_lack_something(data: Path, tmp_path: Path) -> None:
    kernel = read(data / "fnirs/mne_kernel_flow50_hb.snirf")
    with pytest.raises(ValueError, match=r"nan in all 14 samples of 20 channels \(S03_D07d0 HbO, "):
        kernel.without_missing()
    left, out = kernel.without_missing("skip")
    assert (len(left.channels), len(out)) == (340, 20)
    shutil.copy(data / "fnirs/snirfsamples_minimum_example.snirf", tmp_path)
    with pytest.raises(ValueError, match="no time series: nirs/data1/dataTimeSeries is empty or"):
        read(tmp_path / "snirfsamples_minimum_example.snirf")


@pytest.mark.realdata
def test_the_hitachi_file_is_read_to_the_last_digit(data: Path) -> None:
    found = read(data / "fnirs/fnirsr_Hitachi_ETG4000_24Ch_Total.dataonly.csv")
    assert found.values[0, :2].tolist() == [-0.02838132, -0.02642141]
    assert found.values[23, -1] == -0.32309842
    assert found.times[:3].tolist() == [0, 0.1, 0.21]


@pytest.mark.parametrize("unit", ["unknown", "Unknown", "n/a"])
def test_snirf_that_does_not_know_its_unit(snirf: Callable[..., Path], unit: str) -> None:
    changes = {"nirs/metaDataTags/TimeUnit": unit}
    found = read(snirf(changes))
    assert found.times.tolist() == [1, 1.5, 2, 2.5]
    assert found.note == f"TimeUnit is {unit!r}, taken for s; time_unit=ms says otherwise"
    later = changes | {"nirs/data1/time": [1000.0, 1500, 2000, 2500]}
    with pytest.raises(ValueError, match="samples 500 apart are not plausible in s; time_unit=ms"):
        read(snirf(later))
    found = read(snirf(later), time_unit="ms")
    assert (found.times.tolist(), found.note) == ([1, 1.5, 2, 2.5], "")


def test_a_unit_of_times_is_for_snirf(
    table: Callable[..., Path], snirf: Callable[..., Path]
) -> None:
    with pytest.raises(ValueError, match=r"r\.csv: only \.snirf files have a unit of times"):
        read(table("t,a\n1,2\n2,3\n"), time_unit="s")
    with pytest.raises(ValueError, match="time_unit must be one of s, ms, us, got 'h'"):
        read(snirf(), time_unit="h")


# objects of other packages


class Raw:
    """What is asked of objects of MNE; `tests/clients` asks MNE's own."""

    info = types.SimpleNamespace(bads=["b"])
    ch_names = ("a", "b", "stim")
    times = np.arange(3) / 2

    def copy(self) -> Raw:
        return Raw()

    def pick(self, kind: str, exclude: str) -> Raw:
        assert (kind, exclude) == ("data", "bads")
        self.ch_names = ("a",)  # type: ignore[assignment]
        return self

    def get_data(self) -> Any:
        return np.array([[1, 2, 3]])


def test_recordings_of_arrays_and_frames() -> None:
    values = np.array([[1, 2, 3], [4, 5, np.nan]])
    one = Recording.of(values, rate=4, names=["a", "b"])
    assert (one.channels, one.times.tolist()) == (("a", "b"), [0, 0.25, 0.5])
    assert Recording.of(values[0], rate=1).values.tolist() == [[1, 2, 3]]
    frame = one.to_dataframe()
    assert (frame.index.name, frame.columns.tolist()) == ("time", ["a", "b"])
    minutes = pandas.date_range("2024-05-01 23:59", periods=3, freq="min")
    for each, times in (
        (frame, [0, 0.25, 0.5]),
        (frame.reset_index(), [0, 0.25, 0.5]),
        (frame.rename_axis("Seconds"), [0, 0.25, 0.5]),
        (frame.set_index(minutes), [0, 60, 120]),
        (frame.set_index(minutes - minutes[1]), [0, 60, 120]),
    ):
        found = Recording.of(each)
        assert (found.channels, found.times.tolist()) == (("a", "b"), times)
        np.testing.assert_array_equal(found.values, values)
    plain = Recording.of(frame.reset_index(drop=True), rate=2)
    assert plain.times.tolist() == [0, 0.5, 1]
    assert Recording.of(one) is one
    mne = Recording.of(Raw())
    assert (mne.channels, mne.values.tolist()) == (("a",), [[1, 2, 3]])
    assert mne.times.tolist() == [0, 0.5, 1]


def test_words_of_what_holds_series() -> None:
    values = np.array([[0.0, 0, 1, 1, 5, 5], [5, 5, 1, 1, 0, 0]])
    options: dict[str, Any] = {"detrend": 0, "breakpoints": "gaussian"}
    expected = words_of(Recording.of(values, rate=1), 3, 4, **options).codes.tolist()
    found = words_of(values, 3, 4, rate=1, **options).codes.tolist()
    assert found == expected == [[0, 1, 3], [3, 1, 0]]


@pytest.mark.parametrize(
    ("data", "options", "error", "message"),
    [
        (np.zeros((2, 3)), {}, ValueError, "ndarray: no times; rate=HZ gives the samples"),
        (np.zeros((2, 3)), {"rate": 0}, ValueError, "rate must be a positive number"),
        (np.zeros((2, 3, 4)), {"rate": 1}, ValueError, "shape (channels, samples) expected, got"),
        (np.zeros((2, 3)), {"rate": 1, "names": ["a"]}, ValueError, "1 names of 2 channels"),
        (np.zeros((2, 3)), {"rate": 1, "names": "aa"}, ValueError, "two channels are called 'a'"),
        (Raw(), {"rate": 1}, ValueError, "Raw: it has times: omit rate"),
        (pandas.DataFrame({"a": [1, 2]}), {}, ValueError, "DataFrame: no times; rate=HZ"),
        (pandas.DataFrame({"a": [1, 2], "t": [1, 2]}), {"rate": 1}, ValueError, "it has times"),
        (pandas.DataFrame({"a": ["x", "y"]}), {"rate": 1}, ValueError, "could not convert"),
        ([[1, 2]], {"rate": 1}, TypeError, "an MNE Raw, a pandas DataFrame, a NumPy array"),
    ],
)
def test_what_is_no_recording(
    data: Any, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=re.escape(message)):
        Recording.of(data, **options)


def test_series_are_drawn() -> None:
    pytest.importorskip("matplotlib", reason="the extra series is not installed")
    values = np.array([[1, 2, 3], [4, 4, 4], [np.nan] * 3, [0, np.nan, 1]])
    (axes,) = Recording.of(values, rate=2, names=[f"CH{k}" for k in range(1, 5)]).plot().axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["CH1", "CH2", "CH3", "CH4"]
    assert axes.get_xlim() == (0, 1.5)
    assert [line.get_ydata()[:1].tolist() for line in axes.lines[:2]] == [[0], [-1.1]]
