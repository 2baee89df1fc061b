"""Computes shards of a search, on any machines, and merges them.

A search is cut into ``count`` shards by its inputs alone, so that no process has to know of the
others. A shard is some contexts of queries with some sequences of the database: it is scanned, and
its ranked hits, histograms of scores and places are written to a file of the folder that all share.
The merge computes statistics and aligns the hits. Its results are those of one process.

>>> import tempfile
>>> from glsw import Aligner, Record
>>> queries = [Record("q1", "", "HEAGAWGHEE"), Record("q2", "", "MKVLAW")]
>>> database = [Record("far", "", "PPPPPP"), Record("near", "", "PAWHEAE")]
>>> with tempfile.TemporaryDirectory() as folder, Aligner(engine="reference") as aligner:
...     search = aligner.prepare(queries, database, composition=0)
...     for number in (3, 1, 2):
...         _ = scan_shard(search, number, 3, folder)
...     for result in merge(search, folder):
...         print(result.query.id, [(hit.target.id, hit.score) for hit in result])
q1 [('near', 17)]
q2 [('near', 15)]
"""

from __future__ import annotations

import json
import os
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from glsw.alignment.hits import SearchResult
from glsw.engines.base import Progress, ignore
from glsw.options import HitOptions, marked
from glsw.output.part_file import BusyFileError, PartFile, check_regular
from glsw.run.pool import counted
from glsw.search.align import DifferentScoreError
from glsw.search.fingerprint import Fingerprint, differences, fingerprint, json_object
from glsw.search.scan import ScanResult, check_longest, scan_database
from glsw.search.search import PreparedSearch
from glsw.sequences.lines import checksum
from glsw.wings.shards.file import ShardError, ShardFile, first_block, hits_block, last_block
from glsw.wings.shards.plan import MAX_SHARDS, Shard, plan

if TYPE_CHECKING:
    from concurrent.futures import Executor

_DESCRIPTION = "search.json"
_SECONDS_BETWEEN_BLOCKS = 1.0
_MAX_PENDING_HITS = 2**17


class Description(NamedTuple):
    """The description of a search in its folder of shards.

    Parameters
    ----------
    fingerprint : dict of str to str
    shards : int
        How many there are.
    notes : dict
        As the process that began gave them to `scan_shard`.
    """

    fingerprint: Fingerprint
    shards: int
    notes: Mapping[str, Any]


class Scanned(NamedTuple):
    """The outcome of `scan_shard`.

    Parameters
    ----------
    path : Path
    cells : int
        Cells of the contexts and sequences of the shard.
    contexts : int
        The contexts that were scanned: fewer than those of the shard if some hits were there.
    seconds : float
        Wall time of the scan.
    engine, device : str
    memory : int
        Bytes of device memory.
    was_complete : bool
        Whether there was nothing to do.
    """

    path: Path
    cells: int
    contexts: int = 0
    seconds: float = 0.0
    engine: str = ""
    device: str = ""
    memory: int = 0
    was_complete: bool = False


def path_of(folder: str | os.PathLike[str], number: int, count: int) -> Path:
    """Return the file of a shard.

    >>> path_of("run", 3, 16).as_posix()
    'run/0003-of-0016.shard'
    """
    return Path(folder, f"{number:04}-of-{count:04}.shard")


def scan_shard(
    search: PreparedSearch,
    number: int,
    count: int,
    folder: str | os.PathLike[str],
    *,
    resume: bool = False,
    notes: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    expect: Progress = ignore,
    executor: Executor | None = None,
) -> Scanned:
    """Scan a shard and write its file, unless the file is there.

    Parameters
    ----------
    search : PreparedSearch
        See `glsw.Aligner.prepare`. Processes of one folder may have other engines and devices.
    number, count : int
        Which shard, from 1 on, of how many.
    folder : path
        The folder of the files; it is made if it is not there.
    resume : bool
        Whether to go on after the last hits that a killed process left of this shard.
    notes : dict, optional
        What else to keep in the folder, for `description`; only those of the first process are.
    progress : callable, optional
        Called now and then with the number of cells finished since the last call.
    expect : callable, optional
        Called once before the scan, with the number of cells that it computes.
    executor : Executor, optional
        As for `glsw.search`.

    Raises
    ------
    ShardError
        If the folder has shards of another search, or another process computes this one now.
    OSError
        If a file cannot be read or written.
    """
    if not 1 <= number <= count:
        raise ValueError(f"shard {number} of {count}: a number from 1 to {count} expected")
    folder, path = Path(folder), path_of(folder, number, count)
    shard = plan(search.queries.sequences, search.database, count)[number - 1]
    identity = _fingerprint_of(search, count)
    folder.mkdir(parents=True, exist_ok=True)
    _claim(folder, Description(identity, count, notes or {}))
    header = _header(identity, shard)
    done = Scanned(path, shard.cells(search.queries.sequences, search.database), was_complete=True)
    if _is_complete(path, header):
        return done
    part = Path(f"{path}.part")
    try:
        file = PartFile(part, None)
    except BusyFileError:
        if _is_complete(path, header):
            return done
        raise ShardError(f"{path}: another process is computing this shard") from None
    with file:
        if _is_complete(path, header):
            part.unlink(missing_ok=True)
            return done
        left = ShardFile(part) if resume else None
        if left and left.header == header:
            file.keep(left.size)
            done = done._replace(contexts=left.contexts)
        else:
            file.keep(0)
            file.write_all(first_block(header))
        first = shard.contexts.start + done.contexts
        rest = shard._replace(contexts=slice(first, shard.contexts.stop))
        expect(rest.cells(search.queries.sequences, search.database))
        done = _scan(search, rest, done, file, progress, executor)
        os.fsync(file.fileno())
        if os.name == "nt":  # no file is renamed there as long as it is open
            file.close()
        part.replace(path)
    return done


def _scan(
    search: PreparedSearch,
    shard: Shard,
    done: Scanned,
    file: PartFile,
    progress: Progress | None,
    executor: Executor | None,
) -> Scanned:
    """Write the hits of what is left of a shard, and the last block."""
    engine, ranking = search.pool.engine, search.ranking
    contexts = search.queries.sequences.part(shard.contexts)
    pending: list[ScanResult] = []
    hits, memory, engines, devices = 0, 0, dict[str, None](), dict[str, None]()
    began = written = time.monotonic()
    with search.pool.running(progress, executor) as run:
        check_longest(engine, search.queries.sequences, search.database)
        for each in scan_database(run, contexts, search.database, ranking, shard.targets):
            pending.append(each)
            hits += len(each.found)
            engines[each.engine or engine.label] = None
            devices[counted(each.devices.values()) or engine.where] = None
            memory = max(memory, each.memory or engine.memory_used)
            due = not each.following and time.monotonic() - written >= _SECONDS_BETWEEN_BLOCKS
            if due or hits >= _MAX_PENDING_HITS:
                file.write_all(hits_block(pending))
                pending, hits, written = [], 0, time.monotonic()
    if pending:
        file.write_all(hits_block(pending))
    done = done._replace(
        contexts=len(contexts),
        seconds=time.monotonic() - began,
        engine=" and ".join(engines) or engine.label,
        device=" and ".join(devices) or engine.where,
        memory=memory,
        was_complete=False,
    )
    ran = ("seconds", "engine", "device", "memory")
    file.write_all(last_block({name: getattr(done, name) for name in ran}))
    return done


def description(folder: str | os.PathLike[str]) -> Description:
    """Return what a folder of shards says of their search, if all of them are there.

    Raises
    ------
    ShardError
        If shards are missing; it lists them.
    OSError
        If it is no folder of shards.
    """
    found = _description(Path(folder))
    numbers = range(1, found.shards + 1)
    if missing := [k for k in numbers if not path_of(folder, k, found.shards).exists()]:
        raise ShardError(f"{folder}: {_listed(missing, found.shards)} missing")
    return found


def merge(search: PreparedSearch, folder: str | os.PathLike[str]) -> Iterator[SearchResult]:
    """Return an iterator over the results of the queries of a search, from the hits of its shards.

    They are those of `glsw.search`. The hits are aligned by the engine of ``search``.

    Raises
    ------
    ShardError
        At once if shards are missing, damaged, or of another search; later if a hit cannot be one,
        or has another score than its alignment.
    OSError
        If a file cannot be read.
    """
    found = description(folder)
    identity = _fingerprint_of(search, found.shards)
    if differing := differences(found.fingerprint, identity):
        raise ShardError(f"{folder} has shards of another search: {differing}")
    shards = plan(search.queries.sequences, search.database, found.shards)
    files = [ShardFile(path_of(folder, each.number, found.shards)) for each in shards]
    if bad := [shard for shard, file in zip(shards, files, strict=True) if file.damage]:
        listed = _listed([each.number for each in bad], found.shards)
        raise ShardError(f"{folder}: {listed} damaged ({files[bad[0].number - 1].damage})")
    for shard, file in zip(shards, files, strict=True):
        _check_header(file, _header(identity, shard))
    return _merged_results(search, shards, files, folder)


def _merged_results(
    search: PreparedSearch,
    shards: Sequence[Shard],
    files: Sequence[ShardFile],
    folder: str | os.PathLike[str],
) -> Iterator[SearchResult]:
    try:
        yield from chain.from_iterable(search.results(_merged(search, shards, files)))
    except DifferentScoreError as error:
        raise ShardError(f"{folder}: wrong hits: {error}") from None


def _merged(
    search: PreparedSearch, shards: Sequence[Shard], files: Sequence[ShardFile]
) -> Iterator[ScanResult]:
    """Yield the hits of each context with the whole database."""
    ranking = search.ranking
    waiting = deque(
        sorted(zip(shards, files, strict=True), key=lambda each: each[0].contexts.start)
    )
    active: list[tuple[Shard, ShardFile, Iterator[ScanResult]]] = []
    for context in range(len(search.queries.sequences)):
        while waiting and waiting[0][0].contexts.start <= context:
            shard, file = waiting.popleft()
            found = file.results(ranking, search.database, shard.targets)
            active.append((shard, file, found))
        active = [each for each in active if context < each[0].contexts.stop]
        merged = ScanResult()
        for shard, file, results in active:
            ran = dict(file.summary or {})
            ran["seconds"] /= file.contexts
            ran["devices"] = {shard.number: ran.pop("device")}
            merged = merged.merged(next(results)._replace(**ran), ranking)
        yield merged


def _fingerprint_of(search: PreparedSearch, count: int) -> Fingerprint:
    """Return what decides the files of all shards; engine and device do not."""
    scoring = search.pool.engine.scoring
    given = {**search.settings, "contexts": search.queries.sequences, "shards": count}
    for name in marked(HitOptions, "of alignments"):  # which merge computes
        given.pop(name)
    return fingerprint(search.queries.given, search.database, scoring, **given)


def _header(identity: Fingerprint, shard: Shard) -> dict[str, Any]:
    parts = {
        name: [part.start, part.stop] for name, part in shard._asdict().items() if name != "number"
    }
    return {"fingerprint": dict(identity), "shard": shard.number, **parts}


def _check_header(file: ShardFile, header: Mapping[str, Any]) -> None:
    if differing := differences(file.header.get("fingerprint"), header["fingerprint"]):
        raise ShardError(f"{file.path} is of another search: {differing}")
    if file.header != header:
        number = file.header.get("shard")
        known = isinstance(number, int) and 0 < number <= MAX_SHARDS and number != header["shard"]
        what = f"is shard {number}" if known else "has another part of the search"
        raise ShardError(f"{file.path} {what}")


def _is_complete(path: Path, header: Mapping[str, Any]) -> bool:
    """Return whether the file of a shard is there and whole; ShardError if of another search."""
    if not path.exists():
        return False
    file = ShardFile(path)
    if file.damage:
        return False
    _check_header(file, header)
    return True


def _claim(folder: Path, wanted: Description) -> None:
    """Write what the folder is for, unless another process did so; then it has to be the same."""
    import secrets

    path = folder / _DESCRIPTION
    if not path.exists():
        new = Path(f"{path}.{secrets.token_hex(4)}")
        new.write_bytes(description_bytes(wanted))
        try:
            os.link(new, path)
        except FileExistsError:
            pass
        except OSError:  # a file system without links
            new.replace(path)
        finally:
            new.unlink(missing_ok=True)
    if differing := differences(_description(folder).fingerprint, wanted.fingerprint):
        raise ShardError(f"{folder} has shards of another search: {differing}")


def description_bytes(description: Description) -> bytes:
    """Return the contents of a file, an object of JSON whose last member is its checksum."""
    members = description._asdict()
    return json.dumps({**members, "crc32": checksum(json.dumps(members))}).encode("ascii")


def _description(folder: Path) -> Description:
    path = folder / _DESCRIPTION
    check_regular(path, links=True)
    with suppress(ValueError, TypeError):
        data = path.read_bytes()
        found = Description(**{k: v for k, v in json_object(data).items() if k != "crc32"})
        kinds = tuple(map(type, found))
        whole = kinds == (dict, int, dict) and data == description_bytes(found)
        if whole and 0 < found.shards <= MAX_SHARDS:
            return found
    raise ShardError(f"{path}: damaged")


def _listed(numbers: Sequence[int], count: int) -> str:
    """Return numbers of shards as ranges, with the verb.

    >>> _listed([3, 5, 6, 7], 16), _listed([2], 4)
    ('shards 3, 5-7 of 16 are', 'shard 2 of 4 is')
    """
    ranges: list[list[int]] = []
    for number in numbers:
        if not ranges or number != ranges[-1][-1] + 1:
            ranges.append([number])
        ranges[-1] = [ranges[-1][0], number]
    text = ", ".join(f"{first}-{last}" if last > first else str(first) for first, last in ranges)
    return f"shards {text} of {count} are" if len(numbers) > 1 else f"shard {text} of {count} is"
