"""Count the instructions of the innermost loops in a listing of AMD's, Intel's or Apple's driver.

tools/vendors/run.sh intel-tgl env INTEL_DEBUG=cs python3 -m tools.vendors.one lanes.comp --asked
prints one; for AMD it is AMD_DEBUG=cs,asm, for Apple AGX_MESA_DEBUG=shaders. For each loop, the
largest last: all instructions, and those that compute for every lane, not memory and branches.
"""

import re
import sys
from collections.abc import Iterable, Iterator
from typing import NamedTuple

# AMD "\tv_add_u32 v1, v2 ; 68020501", Intel "add(8) g1<1>D ...", Apple " 1f4: 20c0 jmp_none 12".
_INSTRUCTION = re.compile(
    r"\t(?P<amd>[a-z]\w+).*; [0-9a-f]{8}"
    r"|(?:\([^)]*\) )?(?P<intel>[a-z][\w.]*(?: \w+)?)\(\d+\)"
    r"|\s*(?P<at>[0-9a-f]+): [0-9a-f]+ +(?P<apple>[a-z]\w*)"
)
_LABEL = re.compile(r"(BB\d+|LABEL\d+):")
_BACK = re.compile(r"branch\w* (BB\d+)|while\(\d+\) +JIP: +(LABEL\d+)|jmp_any +-(\d+)")
_OTHER = re.compile(
    r"s_|ds_|buffer_|global_|sync|send|load|store|jmp|while|if|else|endif|nop|break"
)


class Loop(NamedTuple):
    instructions: int
    computing: int


def innermost(listing: Iterable[str]) -> Iterator[Loop]:
    """Yield the loops that have no other inside, in the order of the listing."""
    labels: dict[str, int] = {}
    found: list[str] = []
    last = -1  # where the last loop begins
    for line in listing:
        if label := _LABEL.match(line):
            labels[label[1]] = len(found)
        told = _INSTRUCTION.match(line)
        if told is None:
            continue
        if told["at"]:
            labels[str(int(told["at"], 16))] = len(found)
        found.append(told["amd"] or told["intel"] or told["apple"])
        if back := _BACK.search(line):
            name = back[1] or back[2] or str(int(told["at"], 16) - int(back[3]))
            start = labels.get(name, len(found))
            if last < start < len(found):
                body = found[start:]
                yield Loop(len(body), sum(not _OTHER.match(each) for each in body))
                last = start


if __name__ == "__main__":
    for loop in sorted(innermost(sys.stdin)):
        print(f"{loop.instructions} instructions, {loop.computing} compute")
