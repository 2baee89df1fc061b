"""What an aligner does with queries that are profiles: another aligner has their scores."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from glsw.inputs import OneSequence, Queries, Targets
from glsw.neighbors import Neighbors
from glsw.profiles.profile import Profile
from glsw.profiles.queries import by_position, profiles_in
from glsw.sequences.database import Database
from glsw.sequences.records import Record

if TYPE_CHECKING:
    from typing_extensions import Self


_MASKS = "lower_case_mask", "mask_low_complexity", "seg"


class ProfileQueries(Neighbors):
    """Base of `glsw.Aligner`: it makes the aligners of profiles."""

    _options: dict[str, Any]
    _other: tuple[list[Profile], Self, list[Any]] | None = None
    """The last profiles, their aligner, and their records."""

    @classmethod
    def for_queries(cls, queries: Queries, **options: Any) -> tuple[Self, Any]:
        """Return an aligner with these options, and the queries for it: of profiles, their records.

        The aligner of profiles has their scores and gap costs, and the mode of the options.
        """
        profiles = profiles_in(queries)
        if profiles is None:
            return cls(**options), queries
        masks = {name: options[name] for name in _MASKS if name in options}
        scoring, records = by_position(profiles, **masks)
        given = options.get("scoring")
        if given is not None and given.end_gaps is not None:
            scoring = replace(scoring, end_gaps=given.end_gaps)
        made = cls(**options | {"scoring": scoring})
        return made, records[0] if isinstance(queries, Profile) else records

    def one(self, query: OneSequence) -> Record:
        """Return the record of one sequence, or of the file of one."""
        return self._inputs.one(query, "query")

    def database(self, source: Targets) -> Database:
        """Return the database that searches of this aligner make of targets, once for several."""
        return self._inputs.database(source)

    def _for(self, queries: Any) -> tuple[Self, Any]:
        """Return the aligner that computes queries, and these, see `for_queries`."""
        profiles = profiles_in(queries)
        if profiles is None:
            return self, queries
        if self._other is None or list(map(id, self._other[0])) != list(map(id, profiles)):
            self._close_other()
            self._other = profiles, *self.for_queries(profiles, **self._options)
        _, aligner, records = self._other
        return aligner, records[0] if isinstance(queries, Profile) else records

    def close(self) -> None:
        """End the processes of several devices; safe to repeat, and not needed for one device."""
        self._close_other()
        super().close()

    def _close_other(self) -> None:
        if self._other:
            self._other[1].close()
