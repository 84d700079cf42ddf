"""read_perfetto.py TRACE: reads a trace by Perfetto's own definitions, and prints what it has as JSON.

The definitions are those of the package `perfetto`. A field that they do not know is an error."""
import json
import sys

from google.protobuf.unknown_fields import UnknownFieldSet
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as protos


def known(message):
    """Whether the message and all inside of it have known fields only."""
    if len(UnknownFieldSet(message)):
        return False
    for field, value in message.ListFields():
        if field.type == field.TYPE_MESSAGE:
            parts = [value] if hasattr(value, "ListFields") else value
            if not all(known(part) for part in parts):
                return False
    return True


trace = protos.Trace()
trace.ParseFromString(open(sys.argv[1], "rb").read())
assert trace.packet and all(known(packet) for packet in trace.packet), "a field is not Perfetto's"
tracks = {p.track_descriptor.uuid: p.track_descriptor for p in trace.packet if p.HasField("track_descriptor")}
event = protos.TrackEvent
depth, slices, counters = {}, 0, {}
packets = [p for p in trace.packet if p.HasField("track_event")]
# The importer sorts by time, and leaves events of one time in the order of the file.
for packet in sorted(packets, key=lambda p: p.timestamp):
    own = packet.track_event
    track = tracks[own.track_uuid]
    assert packet.trusted_packet_sequence_id, "the importer drops events without a sequence"
    if own.type == event.TYPE_SLICE_BEGIN:
        assert track.HasField("thread") and own.name
        depth[own.track_uuid] = depth.get(own.track_uuid, 0) + 1
        slices += 1
    elif own.type == event.TYPE_SLICE_END:
        depth[own.track_uuid] -= 1
        assert depth[own.track_uuid] >= 0, "an end before its begin"
    elif own.type == event.TYPE_COUNTER:
        assert track.HasField("counter")
        parent = tracks[track.parent_uuid]
        kind = "thread" if parent.HasField("thread") else "process"
        name = parent.thread.thread_name if kind == "thread" else ""
        key = json.dumps([kind, name, track.name, track.counter.unit_name])
        counters[key] = counters.get(key, 0) + 1
assert not any(depth.values()), "a slice without an end"
print(json.dumps({"slices": slices, "counters": [json.loads(key) for key in sorted(counters)]}))
