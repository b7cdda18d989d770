#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Usage: export_test.py ORRERY SCENARIOS. What `orrery export` writes, read back with nothing but the field numbers of Perfetto's
public schema and compared with the timeline."""
import json
import os
import struct
import sys
from collections import defaultdict

from orrery_runs import Runs, expect, skip

try:
    import h5py
except ImportError:
    skip("no h5py")


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    """(number, value) of one message: integers, doubles as floats, nested messages and texts as bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 1:
            value, at = struct.unpack_from("<d", data, at)[0], at + 8
        elif key & 7 == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            raise AssertionError(f"wire type {key & 7}")
        yield key >> 3, value


def read_trace(path):
    """Tracks by id, and events (ns, type, track, name or value) in file order."""
    names, tracks, events = {}, {}, []
    with open(path, "rb") as file:
        trace = file.read()
    for _, packet in fields(trace):
        packet = dict(fields(packet))
        if 12 in packet:  # interned names
            for number, entry in fields(packet[12]):
                entry = dict(fields(entry))
                if number == 2:
                    names[entry[1]] = entry[2].decode()
        if 60 in packet:
            track = dict(fields(packet[60]))
            tracks[track[1]] = (track[2].decode(), track.get(5))
        if 11 in packet:
            event = dict(fields(packet[11]))
            expect(event[11] in tracks, "an event before its track")
            events.append((packet[8], event[9], event[11], names.get(event.get(10)), event.get(44)))
    return tracks, events


def check_slices(tracks, events):
    """One slice at a time on each track of a rank, in order."""
    for track in {e[2] for e in events if e[1] in (1, 2)}:
        on_track = [(ns, kind) for ns, kind, t, *_ in events if t == track and kind in (1, 2)]
        expect([kind for _, kind in on_track] == [1, 2] * (len(on_track) // 2), "slices of", tracks[track], "overlap")
        expect([ns for ns, _ in on_track] == sorted(ns for ns, _ in on_track), tracks[track], "goes back in time")
        expect(tracks[tracks[track][1]][0].startswith("rank "), "the parent of", tracks[track], "is no rank")


def main():
    runs = Runs(sys.argv[1])
    runs.run("r", "tiny.yaml", "output.link_bin=10us")
    runs.orrery("export", "r", "--perfetto", "all.pftrace", "--chrome", "slice.json", "--ranks", "2-3")
    with h5py.File(runs.at("r/run.h5")) as run:
        op = {name: run["operations"][name][:] for name in ("start", "end", "rank", "kind", "layer")}
        kinds = list(run["operations/kind"].attrs["names"])
        link = {name: run["link_bins"][name][:] for name in ("bundle", "bin", "wire_bytes")}
        capacity = dict(zip(run["fabric/bundles/id"][:], run["fabric/bundles/capacity"][:]))
        name_of = dict(zip(run["fabric/bundles/id"][:], run["fabric/bundles/name"].asstr()[:]))
        width = int(run["manifest"].attrs["link_bin_ps"])
    wanted = [i for i in range(len(op["rank"])) if op["rank"][i] in (2, 3)]

    tracks, events = read_trace(runs.at("all.pftrace"))
    begins = sorted((ns, name) for ns, kind, _, name, _ in events if kind == 1)
    expect(begins == sorted((int(op["start"][i]) // 1000, kinds[op["kind"][i]]) for i in wanted),
           "slices begin elsewhere than operations")
    ends = sorted(ns for ns, kind, *_ in events if kind == 2)
    expect(ends == sorted(int(op["end"][i]) // 1000 for i in wanted), "slices end elsewhere than operations")
    check_slices(tracks, events)
    counted = defaultdict(dict)
    for ns, kind, track, _, value in events:
        if kind == 4:
            counted[tracks[track][0]][ns] = value
    for bundle, number, sent in zip(link["bundle"], link["bin"], link["wire_bytes"]):
        share = 100 * 8 * int(sent) / (int(capacity[bundle]) * width * 1e-12)
        got = counted[name_of[bundle]][int(number) * width // 1000]
        expect(abs(got - share) < 1e-9 * max(1, share), name_of[bundle], "in bin", number, "is", got, "and not", share)
    expect(all(values[max(values)] == 0 for values in counted.values()), "a link stays busy for ever")

    with open(runs.at("slice.json")) as file:
        chrome = [e for e in json.load(file)["traceEvents"] if e["ph"] == "X"]
    expect(sorted((e["pid"], round(e["ts"] * 1e6), round(e["dur"] * 1e6), e["name"]) for e in chrome) ==
           sorted((int(op["rank"][i]), int(op["start"][i]), int(op["end"][i] - op["start"][i]), kinds[op["kind"][i]])
                  for i in wanted), "Chrome's events are not the operations")

    half = int(op["end"].max()) // 2_000_000
    runs.orrery("export", "r", "--chrome", "half.json", "--until", f"{half}us")
    with open(runs.at("half.json")) as file:
        count = sum(e["ph"] == "X" for e in json.load(file)["traceEvents"])
    expect(count == sum(op["start"] < half * 1_000_000), "--until keeps", count)
    # Ranks that send and receive at once.
    runs.run("jobs", os.path.join(sys.argv[2], "two_jobs.yaml"))
    runs.orrery("export", "jobs", "--perfetto", "jobs.pftrace")
    tracks, events = read_trace(runs.at("jobs.pftrace"))
    check_slices(tracks, events)
    names = [name for name, _ in tracks.values()]
    expect(names.count("communication") > sum(name.startswith("rank ") for name in names), "nothing was done at once")

    runs.orrery("export", "r", code=2)
    runs.orrery("export", "r", "--chrome", "x.json", "--ranks", "9-3", code=2)
    runs.orrery("export", "nowhere", "--chrome", "x.json", code=2)


if __name__ == "__main__":
    main()
