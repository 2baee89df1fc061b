"""Cut ``proteins.fasta`` from ``DB.fasta.gz`` (see README.md): ``python cut.py DB.fasta.gz``."""

import gzip
import re
import sys
from pathlib import Path

ORGANISMS = """
HUMAN PANTR MOUSE RAT BOVIN PIG HORSE FELCA CHICK XENLA XENTR LITCT DANRE DROME ANOGA AEDAE DIPPU
HELAN CAEEL CAEBR DICDI YEAST SCHPO CANAL CANMA NEOFI PENRW DEBHA ARATH ORYSJ GLYUR ECOLI BACSU
MYCTU HELPY CHLTR TREPA METJA SULIA
"""
LONGEST = 1000

with (
    gzip.open(sys.argv[1], "rt") as source,
    Path(__file__).with_name("proteins.fasta").open("w") as cut,
):
    for record in re.split(r"^>", source.read(), flags=re.MULTILINE)[1:]:
        title, letters = record.split("\n", 1)
        name = title.split()[0]
        letters = "".join(letters.split())
        reviewed = name.startswith("sp|")
        if reviewed and name.rpartition("_")[2] in ORGANISMS.split() and len(letters) <= LONGEST:
            lines = re.findall(".{1,60}", letters)
            print(">" + title.removesuffix("Split=0 ").strip(), *lines, sep="\n", file=cut)
