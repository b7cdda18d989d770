#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Reads the timeline of a run that is still going on, or was killed: timeline_live.py DIR [--follow SECONDS].

read_part(path) gives the tables of one part as numpy arrays, whole chunks and tail together; docs/timeline.md explains
the files. Needs h5py (Debian: python3-h5py). Works on file systems without locks.
"""
import argparse
import os
import pathlib
import struct
import time

os.environ.setdefault("HDF5_USE_FILE_LOCKING", "FALSE")  # before h5py: HDF5 reads it once
import h5py
import numpy as np

TABLES = ("operations", "collectives", "link_bins", "pairs", "expert_loads", "packet_bins")  # the order in a tail
NEVER = 2**63 - 1  # complete_until of a part that holds its whole run


def _words(data, count, at):
    return struct.unpack_from(f"<{count}q", data, at), at + 8 * count


def read_part(path):
    """({table: {column: array}}, complete_until in ps): what was flushed last, a prefix of what the part will hold."""
    path = pathlib.Path(path)
    # The tail before the file: the chunks that it follows are in the file by then. It is replaced as a whole.
    tail = path.with_suffix(".tail").read_bytes()
    (complete_until, _state, _written_us), at = _words(tail, 3, 24)  # after magic, length and checksum
    tables = {}
    with h5py.File(path, "r", libver="latest", swmr=True) as part:
        for name in TABLES:
            (first, rows), at = _words(tail, 2, at)
            tables[name] = {}
            for column in part[name].attrs["columns"]:
                data = part[name][column]
                values = np.frombuffer(tail, data.dtype, rows, at)
                at += values.nbytes
                tables[name][column] = np.concatenate([data[:first], values])
    return tables, complete_until


def main():
    arguments = argparse.ArgumentParser(description="Rows and simulated time of a run that is going on.")
    arguments.add_argument("directory", type=pathlib.Path)
    arguments.add_argument("--follow", type=float, metavar="SECONDS", help="look again after so many seconds")
    options = arguments.parse_args()
    while True:
        parts = sorted((options.directory / "parts").glob("l*.p*.h5"))
        for path in parts:
            try:
                tables, complete_until = read_part(path)
            except OSError as gone:  # the run has ended and merged its parts
                print(f"{path.name}: {gone}")
                continue
            rows = ", ".join(f"{len(next(iter(table.values())))} {name}" for name, table in tables.items())
            until = "to its end" if complete_until == NEVER else f"until {complete_until * 1e-9:.6f} ms"
            print(f"{path.name}: complete {until}; {rows}")
        if not parts or options.follow is None:
            break
        time.sleep(options.follow)


if __name__ == "__main__":
    main()
