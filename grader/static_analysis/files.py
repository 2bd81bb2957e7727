"""Several files of one submission: what an entry point comes to in the files that it imports.

Each file was read by itself, in a disposable process; here plain values are put together.

Does not see: names that a file passes on without defining them, and those of ``import *``. What
such a function does shows in its behaviour alone, and a rule that rests on both witnesses leaves
it to a person.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from grader.static_analysis.facts import Construct, EntryFacts, Mention, SourceFacts, SourcePlace

MOST = 2_000
"""Facts of one sort that are kept for an entry point."""


def reachable(read: Mapping[str, SourceFacts], home: str, entry: str) -> EntryFacts | None:
    """Return the facts on an entry point, with those on what it uses of the other files.

    Args:
        read: File → what it says.
        home: The file of the entry point. Places in the others name their file.
        entry: The entry point; None is returned where the file has none of that name.
    """
    own = read[home].entries.get(entry) if home in read else None
    if own is None or len(read) == 1:
        return own
    return _Walk(read, home).facts(entry, own)


@dataclass(frozen=True, slots=True)
class _Visit:
    """An entry point of a file, and how many loops deep it is used."""

    path: str
    entry: str
    depth: int


class _Walk:
    def __init__(self, read: Mapping[str, SourceFacts], home: str) -> None:
        self._read = read
        self._home = home
        self._modules = {path.removesuffix(".py").replace("/", "."): path for path in read}

    def facts(self, entry: str, own: EntryFacts) -> EntryFacts:
        parts = [own]
        seen = {(self._home, entry)}
        waiting = [*self._used(own, self._home, 0)]
        while waiting:
            visit = waiting.pop()
            found = self._read[visit.path].entries.get(visit.entry)
            # Once, however many ways lead there; a circle ends here too.
            if found is None or (visit.path, visit.entry) in seen:
                continue
            seen.add((visit.path, visit.entry))
            parts.append(self._placed(found, visit))
            waiting += self._used(found, visit.path, visit.depth)
        return EntryFacts(
            tuple(dict.fromkeys(name for part in parts for name in part.functions)),
            tuple(item for part in parts for item in part.constructs)[:MOST],
            max(part.depth for part in parts),
            tuple(item for part in parts for item in part.mentions)[:MOST],
            tuple(item for part in parts for item in part.opaque)[:MOST],
            sum(part.indexings for part in parts),
            sum(part.slice_assignments for part in parts),
        )

    def _used(self, facts: EntryFacts, path: str, depth: int) -> Iterator[_Visit]:
        """Yield what of other files is used, by name."""
        for mention in facts.mentions:
            module, file = self._module_of(mention.name)
            if file and file != path:
                name = mention.name[len(module) + 1 :].partition(".")[0]
                yield _Visit(file, name, depth + _around(facts.constructs, mention))

    def _module_of(self, name: str) -> tuple[str, str]:
        parts = name.split(".")
        prefixes = (".".join(parts[:count]) for count in range(len(parts) - 1, 0, -1))
        module = next((prefix for prefix in prefixes if prefix in self._modules), "")
        return module, self._modules.get(module, "")

    def _placed(self, facts: EntryFacts, visit: _Visit) -> EntryFacts:
        def there(place: SourcePlace) -> SourcePlace:
            return place if visit.path == self._home else replace(place, file=visit.path)

        return replace(
            facts,
            constructs=tuple(
                replace(item, place=there(item.place), depth=item.depth + visit.depth)
                for item in facts.constructs
            ),
            depth=facts.depth + visit.depth,
            mentions=tuple(replace(item, place=there(item.place)) for item in facts.mentions),
            opaque=tuple(replace(item, place=there(item.place)) for item in facts.opaque),
        )


def _around(constructs: tuple[Construct, ...], mention: Mention) -> int:
    """Return how many loops deep a name is used."""
    line = mention.place.line
    return max(
        (item.depth for item in constructs if item.repeated[0] <= line <= item.repeated[1]),
        default=0,
    )
