#!/usr/bin/env python3
"""Compare `pacman-pmu topo --json` with another reader, on the /sys trees of other projects.

    compare.py COMMAND TREE…

COMMAND is a built pacman-pmu. TREE is a tar archive, or a directory that holds `sys`. hwloc keeps such
archives in tests/hwloc/linux, util-linux in tests/ts/lscpu/dumps; neither is part of this project. `lstopo.py`
compares with the output that hwloc keeps beside its archives.

The reader below shares nothing with the command: it reads masks where the command reads lists, and
groups contexts by sets instead of by numbers. A line a tree says what agrees. Where a tree contradicts
itself or leaves a fact out, the command must say so in a caveat. The status is 1 if anything differs
without a caveat.
"""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile


def text(*parts):
    try:
        with open(os.path.join(*parts), "rb") as file:
            return file.read().decode("utf-8", "replace").strip(" \n\0") or None
    except OSError:
        return None


def mask(*parts):
    """The bits of a file in mask notation, as a set; `None` without it."""
    digits = text(*parts)
    if digits is None:
        return None
    value = int(digits.replace(",", ""), 16)
    return frozenset(bit for bit in range(value.bit_length()) if value >> bit & 1)


def ranges(*parts):
    """The numbers of a file in list notation; `None` without it."""
    items = text(*parts)
    if items is None:
        return None
    numbers = set()
    for item in filter(None, items.split(",")):
        first, _, last = item.partition("-")
        numbers.update(range(int(first), int(last or first) + 1))
    return frozenset(numbers)


def either(directory, *names):
    """The first of these that is there, by mask before list."""
    for name in names:
        for read, suffix in ((mask, ""), (ranges, "_list")):
            found = read(directory, name + suffix)
            if found is not None:
                return found
    return None


def numbered(pattern):
    found = {}
    for path in glob.glob(pattern + "[0-9]*"):
        number = re.fullmatch(r"\D+(\d+)", os.path.basename(path))
        if number:
            found[int(number[1])] = path
    return dict(sorted(found.items()))


def groups(keys):
    by_key = {}
    for cpu, key in keys.items():
        by_key.setdefault(key, set()).add(cpu)
    return {frozenset(cpus) for cpus in by_key.values()}


def size(text_of_size):
    if text_of_size is None:
        return None
    unit = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}.get(text_of_size[-1])
    return int(text_of_size[:-1]) * unit if unit else int(text_of_size)


def facts(root):
    """Online contexts, cores, packages, nodes and caches as sets, and the doubts about them."""
    sys_dir = os.path.join(root, "sys")
    cpus = numbered(os.path.join(sys_dir, "devices/system/cpu/cpu"))
    online = ranges(sys_dir, "devices/system/cpu/online")
    if online is None:
        online = frozenset(cpu for cpu, path in cpus.items() if text(path, "online") != "0")
    core, package, caches = {}, {}, set()
    doubts = set()
    for cpu in online:
        place = os.path.join(cpus.get(cpu, "/nonexistent"), "topology")
        siblings = either(place, "core_cpus", "thread_siblings")
        number, owner = text(place, "core_id"), text(place, "physical_package_id")
        if owner is not None and int(owner) >= 0:
            package[cpu] = ("number", int(owner))
        else:
            members = either(place, "package_cpus", "core_siblings")
            package[cpu] = ("members", members and members & online)
        if siblings is not None:
            core[cpu] = frozenset(siblings & online)
            if cpu not in siblings:
                doubts.add("siblings")
        elif number is not None and int(number) >= 0:
            core[cpu] = (package[cpu], text(place, "die_id"), int(number))
        else:
            core[cpu] = ("alone", cpu)
            doubts.add("cores")
    cores = groups(core)
    core_of = {cpu: cpus_of for cpus_of in cores for cpu in cpus_of}
    covered = {}
    for cpu in sorted(online):
        for index in numbered(os.path.join(cpus.get(cpu, "/nonexistent"), "cache/index")).values():
            kind = {"Data": "data", "Instruction": "instruction", "Unified": "unified"}.get(text(index, "type"))
            level = text(index, "level")
            if kind is None or level is None:
                continue
            shared = either(index, "shared_cpu_map") or either(index, "shared_cpu")
            shared = shared & online if shared else frozenset()
            known = covered.get((level, kind, cpu))
            if known is not None:
                if known != shared:
                    doubts.add("caches")
                continue
            if cpu not in shared:
                shared = core_of[cpu]
                doubts.add("caches")
            covered.update({(level, kind, other): shared for other in shared})
            caches.add((int(level), kind, size(text(index, "size")), shared))
    nodes, seen = {}, set()
    for number, path in numbered(os.path.join(sys_dir, "devices/system/node/node")).items():
        members = mask(path, "cpumap")
        members = ranges(path, "cpulist") if members is None else members
        members = (members or frozenset()) & online
        if members & seen:
            doubts.add("nodes")
        if members - seen:
            nodes[number] = members - seen
        seen |= members
    if not seen:
        nodes[0] = online
    elif seen != online:
        doubts.add("nodes")
        nodes[0] = nodes.get(0, frozenset()) | (online - seen)
    return {
        "contexts": online,
        "cores": cores,
        "packages": groups(package),
        "nodes": set(nodes.items()),
        "caches": caches,
    }, doubts


def told(command, root):
    done = subprocess.run([command, "topo", "--json", "--sysfs", root], capture_output=True, text=True)
    if done.returncode:
        return None, done.stderr.strip()
    machine = json.loads(done.stdout)
    contexts = [
        (context["cpu"], context["node"], package["package"], core["core"], context["allowed"])
        for package in machine["packages"]
        for core in package["cores"]
        for context in core["contexts"]
    ]
    nodes = {}
    for cpu, node, *_ in contexts:
        nodes.setdefault(node, set()).add(cpu)
    return {
        "contexts": frozenset(cpu for cpu, *_ in contexts),
        "cores": groups({cpu: core for cpu, _, _, core, _ in contexts}),
        "packages": groups({cpu: package for cpu, _, package, _, _ in contexts}),
        "nodes": {(node, frozenset(cpus)) for node, cpus in nodes.items()},
        "caches": {
            (cache["level"], cache["kind"], cache["bytes"], frozenset(cache["cpus"]))
            for cache in machine["caches"] or []
        },
        "hybrid": machine["hybrid"],
        "allowed": frozenset(cpu for cpu, *_, allowed in contexts if allowed),
    }, machine["caveats"]


def roots(tree, scratch):
    """The directories below a tree or archive that hold `sys/devices/system/cpu`."""
    if os.path.isfile(tree):
        target = os.path.join(scratch, os.path.basename(tree))
        os.mkdir(target)
        # Devices of other kinds are most of an archive. An archive without one of these says so.
        read = ["system/cpu/*", "system/node/*", "cpu_core/*", "cpu_atom/*", "cpu_lowpower/*"]
        wanted = [f"*/sys/devices/{part}" for part in read] + ["*/cgroup/*", "*/dev/cpuset/*cpus", "*/proc/*"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.run(["tar", "-xf", tree, "-C", target, "--no-same-owner", "--wildcards", *wanted], **quiet)
        subprocess.run(["chmod", "-R", "u+rwX", target], **quiet)
        tree = target
    for directory, folders, _ in os.walk(tree):
        if os.path.isdir(os.path.join(directory, "sys/devices/system/cpu")):
            folders.clear()
            yield directory


def main(command, *trees):
    agree = with_caveat = differ = 0
    for tree in trees:
        with tempfile.TemporaryDirectory() as scratch:
            for root in roots(tree, scratch):
                name = os.path.basename(root)
                expected, doubts = facts(root)
                found, caveats = told(command, root)
                if found is None:
                    print(f"REFUSED  {name}: {caveats}")
                    differ += 1
                    continue
                unequal = [key for key in expected if expected[key] != found[key]]
                sizes = ", ".join(f"{len(expected[key])} {key}" for key in expected)
                untold = doubts and not caveats
                if unequal or untold:
                    differ += 1
                    print(f"DIFFERS  {name}: {', '.join(unequal) or 'no caveat for ' + ', '.join(doubts)}")
                    for key in unequal:
                        only = [sorted(map(str, a - b))[:3] for a, b in ((expected[key], found[key]), (found[key], expected[key]))]
                        print(f"         {key}: only here {only[0]}, only there {only[1]}")
                elif caveats:
                    with_caveat += 1
                    print(f"agrees   {name}: {sizes}; caveat: {'; '.join(caveats)}")
                else:
                    agree += 1
                    print(f"agrees   {name}: {sizes}{', hybrid' if found['hybrid'] else ''}")
    print(f"{agree + with_caveat} trees agree, {with_caveat} of them with a caveat; {differ} differ")
    return 1 if differ else 0


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
