#!/usr/bin/env python3
"""Compare `pacman-pmu topo --json` with the output that hwloc expects of its `lstopo`.

    lstopo.py COMMAND FOLDER

COMMAND is a built pacman-pmu. FOLDER is hwloc's tests/hwloc/linux, which has archives of `/sys` trees, `.test`
files that name an archive and an expected output, and these outputs; none of it is part of this project.

A line a test says what agrees, or each difference in contexts, cores, packages, NUMA nodes and caches. Options of
a test that leave objects out leave them out here. The status is 1 if anything differs.

Of hwloc 3b37b02's tests 36 agree and 3 merge levels. 12 differ:

- 16amd64-8n2c-cpusets (2), 4fake-4gr1nu1pu: lstopo leaves out nodes whose memory the cpuset forbids; the last has no
  cores for want of a topology directory, where topo takes each context for a core and says so.
- nvidiagpunumanodes (2): topo takes the cpuset's effective CPUs, lstopo those that were asked for.
- 64amd64-4s2n4ca2co: the kernel lists both cores of a Bulldozer module as siblings. lstopo parts them by `core_id`.
- 16ia64-8n2s: two packages have one number. topo goes by the number, lstopo by the siblings.
- 2ps3-2t: the tree has no package, and topo has one always.
- 40intel64-4n10c+pci-conflicts, fakeheterocpunuma, offline-cpu0-node0: the tree contradicts itself or leaves CPUs out,
  and topo has a caveat.
- fakememinitiators-1np2c+1npp+gi: lstopo shows nodes of memory in place of those with CPUs.
"""
import os
import re
import shlex
import sys
import tempfile
import xml.etree.ElementTree as xml

from compare import roots, told

CACHE = re.compile(r"L(\d)([di]?)(?:Cache)?$")
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
MEMORY = {"NUMANode", "MemCache"}
KINDS = {"": "unified", "d": "data", "i": "instruction"}


class Object:
    """An object of hwloc: its type, number, cache size, and the contexts below it."""

    def __init__(self, kind, number=None, size=None):
        self.kind, self.number, self.size = kind, number, size
        self.children, self.cpus = [], None

    def close(self):
        """Gives each object its contexts. Memory has those of the object that it hangs on."""
        parts = [child for child in self.children if child.kind not in MEMORY]
        below = [child.close() for child in parts]
        self.cpus = frozenset([self.number] if self.kind == "PU" else ()).union(*below)
        self.give_memory()
        return self.cpus

    def give_memory(self):
        for child in self.children:
            if child.kind in MEMORY:
                child.cpus = self.cpus
                child.give_memory()

    def all(self):
        yield self
        for child in self.children:
            yield from child.all()


def of_console(text):
    """The objects of an output for reading: indentation nests them."""
    above = [(-1, Object("none"))]
    for line in text.splitlines():
        found = re.match(r"( *)([A-Za-z0-9]+)(?:\(\w+\))?(?: L#\d+)?(?: \((?:P#(\d+))?(.*)\))?", line)
        if line.startswith(("depth", "Special", "Topology", "CPU kind", "Relative", "Memory attribute")) or not found:
            break
        indent, kind, number, rest = found.groups()
        size = re.search(r"size=(\d+)([KMG]?)i?B", rest or "")
        new = Object(kind, number and int(number), size and int(size[1]) * UNITS[size[2]])
        while above[-1][0] >= len(indent):
            above.pop()
        above[-1][1].children.append(new)
        above.append((len(indent), new))
    return above[0][1].children[0]


def of_xml(element):
    number = element.get("os_index")
    size = element.get("cache_size")
    kind = element.get("type")
    if element.get("cache_type"):
        kind = f"L{element.get('depth')}{['', 'd', 'i'][int(element.get('cache_type'))]}"
    new = Object(kind, number and int(number), size and int(size))
    new.children = [of_xml(child) for child in element.findall("object")]
    return new


def expected(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    machine = of_xml(xml.fromstring(text).find("object")) if path.endswith(".xml") else of_console(text)
    machine.close()
    objects = [each for each in machine.all() if each.cpus]
    caches = set()
    for each in objects:
        cache = CACHE.match(each.kind)
        if cache:
            caches.add((int(cache[1]), KINDS[cache[2]], each.size or None, each.cpus))
    of = lambda kind: {each.cpus for each in objects if each.kind == kind}
    return {
        "contexts": machine.cpus,
        "cores": of("Core"),
        "packages": of("Package"),
        "nodes": {(each.number, each.cpus) for each in objects if each.kind == "NUMANode"},
        "caches": caches,
    }


def within(objects, cpus):
    """The objects with their contexts among `cpus` alone."""
    return {
        "contexts": objects["contexts"] & cpus,
        "cores": {core & cpus for core in objects["cores"]} - {frozenset()},
        "packages": {package & cpus for package in objects["packages"]} - {frozenset()},
        "nodes": {(number, node & cpus) for number, node in objects["nodes"] if node & cpus},
        "caches": {(*cache, shared & cpus) for *cache, shared in objects["caches"] if shared & cpus},
    }


def compared(wanted, found, options):
    """The kinds whose objects differ, with the objects. lstopo leaves out contexts that a cpuset forbids."""
    found = within(found, found["contexts"] if "--disallowed" in options else found["allowed"])
    unwanted = set()
    if "--no-caches" in options:
        unwanted = {"data", "instruction", "unified"}
    if "--no-icaches" in options:
        unwanted = {"instruction"}
    # A node without CPUs is memory: lstopo hangs it near the contexts that reach it.
    numbers = {number for number, _ in found["nodes"]}
    if numbers & {number for number, _ in wanted["nodes"]}:
        wanted["nodes"] = {node for node in wanted["nodes"] if node[0] in numbers}
    for objects in wanted, found:
        objects["caches"] = {cache for cache in objects["caches"] if cache[1] not in unwanted}
    for kind in wanted:
        if wanted[kind] != found[kind]:
            yield kind, wanted[kind] - found[kind], found[kind] - wanted[kind]


def rounded(size):
    """As an output for reading shows it: KiB below ten MiB, and MiB from there on."""
    shift = 10 if (size or 0) < 10 << 20 else 20
    return size and ((size >> shift - 1) + 1 >> 1) << shift


def read_test(path):
    fields = {"options": ""}
    with open(path, encoding="utf-8") as file:
        for line in file:
            name, colon, value = line.partition(":")
            if colon and not line.startswith("#"):
                fields[name.strip()] = value.strip()
    return fields


def main(command, folder):
    agree = differ = 0
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".test"):
            continue
        fields = read_test(os.path.join(folder, name))
        options = shlex.split(fields["options"])
        if "--merge" in options or "all:structure" in options:
            print(f"merges   {name}: its levels of one object each are left out")
            continue
        wanted = expected(os.path.join(folder, fields["target"]))
        with tempfile.TemporaryDirectory() as scratch:
            (root,) = roots(os.path.join(folder, fields["source"]), scratch)
            found, caveats = told(command, root)
        if found is None:
            print(f"REFUSED  {name}: {caveats}")
            differ += 1
            continue
        if not fields["target"].endswith(".xml"):
            found["caches"] = {(level, kind, rounded(size), cpus) for level, kind, size, cpus in found["caches"]}
        unequal = list(compared(wanted, found, options))
        for kind, only_there, only_here in unequal:
            show = lambda objects: [str(each) for each in sorted(objects, key=str)[:3]]
            print(f"DIFFERS  {name}: {kind}: only lstopo {len(only_there)} {show(only_there)}, "
                  f"only topo {len(only_here)} {show(only_here)}")
        if not unequal:
            print(f"agrees   {name}")
        elif caveats:
            print(f"         {name}: {'; '.join(caveats)}")
        differ += bool(unequal)
        agree += not unequal
    print(f"{agree} tests agree, {differ} differ")
    return 1 if differ else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
