"""Recordings: what is read from tables and by MNE, and one clear line for what cannot be."""

from __future__ import annotations

import re
import shutil
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pyarrow
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
Probe Type,Adult

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
    with pytest.raises(ValueError, match=r"r\.csv: no times; rate=HZ gives"):
        read(path)
    with pytest.raises(ValueError, match=r"rate .*: a number above 0 expected"):
        read(path, rate=0)


def test_hitachi_export_with_header_past_midnight(table: Callable[..., Path]) -> None:
    found = read(table(HITACHI))
    assert (found.channels, found.kind) == (("CH1", "CH2"), "Oxy")
    np.testing.assert_array_equal(found.values, [[0.5, 0.25, 0.125], [-1, np.nan, 0.2]])
    assert found.times.tolist() == [0, 0.1, 0.2]


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
        ("time\n3\n4\n", "r.csv:1: no column of a channel beside 'time'"),
        ("0,1\n1,2\n", "r.csv:1: a header line with names of columns expected, got numbers"),
        ("time,a,a\n0,1,2\n1,1,2\n", "r.csv: two channels are called 'a'"),
        ("time,,b\n0,1,2\n", "r.csv:1: column 2 has no name"),
        ('time,a\n0,1\n"' + "x" * 200_000, "r.csv:3: field larger than field limit"),
        ("Header\nID,1\n", "r.csv: no line begins with Probe1 below the header of Hitachi"),
        ("Probe1,A,Time\n1,2,3\n", "r.csv:1: no column of a channel beside 'Probe1'"),
        (f"{HEAD}1,1,1,0,10:00:00,0,0,0\n2,1,1,0,09:00:00,0,0,0\n", "r.csv:3: column 'Time'"),
        (f"{HEAD}1,1,1,0,noon,0,0,0\n", "r.csv:2: column 'Time': 'noon' is not a number"),
        (b"\xff\xfet\0i\0m\0e\0", "r.csv: no times"),
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
    for name in ("r.xlsx", "r"):
        with pytest.raises(ValueError, match=r"r[.xls]*: MNE cannot read it: Unsupported file"):
            read(table("time,a\n0,1\n", name))
    for name in ("none.csv", "none.snirf", "none"):
        with pytest.raises(FileNotFoundError):
            read(tmp_path / name)
    with pytest.raises(IsADirectoryError):
        read(tmp_path)
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


# files that MNE reads


@pytest.fixture
def snirf(tmp_path: Path) -> Callable[..., Path]:
    """``snirf(changes)``: a SNIRF file with changes, by path; None takes something away."""
    import h5py

    def snirf(changes: dict[str, Any] | None = None) -> Path:
        fields: dict[str, Any] = {
            "nirs/metaDataTags/SubjectID": b"1",
            "nirs/metaDataTags/TimeUnit": b"s",
            "nirs/metaDataTags/LengthUnit": b"mm",
            "nirs/probe/wavelengths": [760.0, 850.0],
            "nirs/probe/sourcePos3D": np.zeros((2, 3)),
            "nirs/probe/detectorPos3D": np.ones((2, 3)),
            "nirs/data1/dataTimeSeries": np.arange(16.0).reshape(4, 4),
            "nirs/data1/time": [1.0, 1.5, 2.0, 2.5],
        }
        for k in range(4):
            group = f"nirs/data1/measurementList{k + 1}"
            fields |= {
                f"{group}/sourceIndex": 1 + k // 2,
                f"{group}/detectorIndex": 2,
                f"{group}/wavelengthIndex": 1 + k % 2,
                f"{group}/dataType": 1,
            }
        path = tmp_path / "r.snirf"
        with h5py.File(path, "w") as file:
            for field, value in (fields | (changes or {})).items():
                if value is not None:
                    file[field] = value
        return path

    return snirf


def test_snirf(snirf: Callable[..., Path]) -> None:
    found = read(snirf({"nirs/data1/measurementList1/dataUnit": b"mV"}))
    assert found.channels == ("S1_D2 760", "S1_D2 850", "S2_D2 760", "S2_D2 850")
    assert (found.name, found.kind) == ("r.snirf", "fnirs_cw_amplitude")
    np.testing.assert_allclose(found.values, 1e-3 * np.arange(16).reshape(4, 4).T)
    assert found.times.tolist() == [0, 0.5, 1, 1.5]
    with pytest.raises(ValueError, match=r"r\.snirf: only tables need a rate"):
        read(snirf(), rate=10)


def test_brainvision(tmp_path: Path) -> None:
    (tmp_path / "r.vhdr").write_text(
        "Brain Vision Data Exchange Header File Version 1.0\n[Common Infos]\nDataFile=r.eeg\n"
        "MarkerFile=r.vmrk\nDataFormat=BINARY\nDataOrientation=MULTIPLEXED\nNumberOfChannels=2\n"
        "SamplingInterval=4000\n[Binary Infos]\nBinaryFormat=IEEE_FLOAT_32\n"
        "[Channel Infos]\nCh1=Fz,,0.5,\xb5V\nCh2=Pz,,0.5,\xb5V\n",
        encoding="utf-8",
    )
    (tmp_path / "r.vmrk").write_text(
        "Brain Vision Data Exchange Marker File, Version 1.0\n[Common Infos]\nDataFile=r.eeg\n"
    )
    np.arange(6, dtype=np.float32).tofile(tmp_path / "r.eeg")
    found = read(tmp_path / "r.vhdr")
    assert (found.channels, found.kind) == (("Fz", "Pz"), "eeg")
    np.testing.assert_allclose(found.values, 1e-6 * np.array([[0, 1, 2], [0.5, 1.5, 2.5]]))
    np.testing.assert_allclose(found.times, [0, 0.004, 0.008])


@pytest.mark.parametrize(
    "changes",
    [
        {"nirs/data1/dataTimeSeries": None},
        {"nirs/data1/dataTimeSeries": np.zeros((0, 4))},
        {"nirs/data1/dataTimeSeries": [["a", "b", "c", "d"]] * 4},
        {"nirs/data1/time": None},
        {"nirs/data1/time": [3.0, 2, 1, 0]},
        {"nirs/metaDataTags/TimeUnit": "fortnight"},
        {"nirs/data1/measurementList2/sourceIndex": "raw"},
    ],
)
def test_what_mne_cannot_read_is_one_line(
    snirf: Callable[..., Path], changes: dict[str, Any]
) -> None:
    path = snirf(changes)
    with pytest.raises(ValueError, match=re.escape(f"{path}: MNE cannot read it: ")) as error:
        read(path)
    assert len(str(error.value).splitlines()) == 1


def test_truncated_snirf_is_one_line(snirf: Callable[..., Path]) -> None:
    path = snirf()
    whole = path.read_bytes()
    for size in (0, *range(5, 600, 149), *range(600, len(whole), 4999), len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(ValueError, match=r"r\.snirf: MNE cannot read it: .") as error:
            read(path)
        assert len(str(error.value).splitlines()) == 1


def test_warnings_of_mne_are_passed_on(snirf: Callable[..., Path]) -> None:
    path = snirf({"nirs/data2/time": [0.0]})
    with pytest.warns(RuntimeWarning, match=r"^r\.snirf: File contains multiple rec.*\.$") as said:
        assert len(read(path).channels) == 4
    assert [each.filename for each in said] == [__file__]


def test_without_mne_it_says_how_to_get_it(
    snirf: Callable[..., Path], table: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = snirf()
    monkeypatch.setitem(sys.modules, "mne", None)
    expected = "r.snirf: not named .csv, .tsv, .txt, so it needs mne: pip install 'glsw[series]'"
    with pytest.raises(ValueError, match=re.escape(expected)):
        read(path)
    assert read(table("t,a\n1,2\n2,3\n")).channels == ("a",)


# real recordings

AMPLITUDE = "fnirs_cw_amplitude"
REAL = {
    "fnirsr_Hitachi_ETG4000_24Ch_Total.dataonly.csv": (24, 3351, 335.0, "Total", "CH24"),
    "snirfsamples_Simple_Probe.snirf": (8, 1200, 119.9, AMPLITUDE, "S1_D4 830"),
    "snirfsamples_neuro_run01.snirf": (18, 8000, 399.29, AMPLITUDE, "S4_D8 830"),
    "mne_nirsport2_2021-10-01_002.snirf": (44, 2762, 271.417, AMPLITUDE, "S8_D7 850"),
    "mne_kernel_flow50_hb.snirf": (360, 14, 1.5745, "hbo, hbr", "S11_D61 hbr"),
}
ONLY_2D = "ignore:.*only contains 2D location:RuntimeWarning"


@pytest.mark.realdata
@pytest.mark.filterwarnings(ONLY_2D)
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
    with pytest.raises(ValueError, match=r"nan in all 14 samples of 20 channels \(S4_D43 hbo, "):
        kernel.without_missing()
    left, out = kernel.without_missing("skip")
    assert (len(left.channels), len(out)) == (340, 20)
    shutil.copy(data / "fnirs/snirfsamples_minimum_example.snirf", tmp_path)
    with pytest.raises(ValueError, match=r"example\.snirf: MNE cannot read it: "):
        read(tmp_path / "snirfsamples_minimum_example.snirf")


@pytest.mark.realdata
def test_the_hitachi_file_is_read_to_the_last_digit(data: Path) -> None:
    found = read(data / "fnirs/fnirsr_Hitachi_ETG4000_24Ch_Total.dataonly.csv")
    assert found.values[0, :2].tolist() == [-0.02838132, -0.02642141]
    assert found.values[23, -1] == -0.32309842
    assert found.times[:3].tolist() == [0, 0.1, 0.21]


@pytest.mark.realdata
def test_the_values_of_a_snirf_file_are_unchanged(data: Path) -> None:
    import h5py

    path = data / "fnirs/mne_nirsport2_2021-10-01_002.snirf"
    with h5py.File(path) as file:
        np.testing.assert_array_equal(read(path).values, file["nirs/data1/dataTimeSeries"][:].T)


# objects of other packages


def raw(**options: Any) -> Any:
    """Return a Raw of MNE with the channels a, b, which is bad, and a trigger."""
    import mne

    info = mne.create_info(["a", "b", "trigger"], 2.0, ["eeg", "eeg", "stim"])
    made = mne.io.RawArray(np.arange(1.0, 10).reshape(3, 3), info, verbose=False)
    made.info["bads"] = ["b"]
    return made.set_annotations(mne.Annotations(**options)) if options else made


def test_recordings_of_mne(tmp_path: Path) -> None:
    import mne

    for each in (raw(), mne.EvokedArray(raw().get_data(), raw().info)):
        found = Recording.of(each)
        assert (found.name, found.channels, found.kind) == (type(each).__name__, ("a",), "eeg")
        assert (found.values.tolist(), found.times.tolist()) == ([[1, 2, 3]], [0, 0.5, 1])
        assert each.ch_names == ["a", "b", "trigger"]
    marked = raw(onset=[0.0, 0.5], duration=[1.0, 0.4], description=["rest", "BAD_motion"])
    marked.save(tmp_path / "r_raw.fif", fmt="double", verbose=False)
    for each in (marked, tmp_path / "r_raw.fif"):
        values = Recording.of(each).values
        np.testing.assert_array_equal(values, [[1, np.nan, 3]])
    epochs = mne.make_fixed_length_epochs(raw(), duration=1, preload=True, verbose=False)
    with pytest.raises(TypeError, match="Epochs: series over one time axis expected"):
        Recording.of(epochs)


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
    arrow = Recording.of(pyarrow.table({"a": [1, 2, 3], "time": [0, 0.25, 0.5]}))
    assert (arrow.values.tolist(), arrow.times.tolist()) == ([[1, 2, 3]], [0, 0.25, 0.5])


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
        (np.zeros((2, 3)), {"rate": 0}, ValueError, "rate 0: a number above 0 expected"),
        (np.zeros((2, 3, 4)), {"rate": 1}, ValueError, "shape (channels, samples) expected, got"),
        (np.zeros((2, 3)), {"rate": 1, "names": ["a"]}, ValueError, "1 names of 2 channels"),
        (np.zeros((2, 3)), {"rate": 1, "names": "aa"}, ValueError, "two channels are called 'a'"),
        (raw(), {"rate": 1}, ValueError, "RawArray: it has times: omit rate"),
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
