#!/usr/bin/env python3
"""Rewrite the tables of this directory from a directory of gathered facts.

    python3 import.py FACTS

FACTS holds models/*.tsv and netburst/*.tsv in the columns that README.md
describes. Only rows that may be shipped are taken: perfmon (BSD-3) and libpfm4
(MIT) derived ones, and facts of vendor manuals for NetBurst and UltraSPARC.
Hand-written tables (presets, additions, corrections, descriptions) are left alone.
"""
import csv
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
EVENT_COLUMNS = ["event", "select", "counters", "smt_off", "fixed", "value", "flags", "errata"]
MODEL_COLUMNS = ["table", "aliases", "family", "groups", "smt", "general", "smt_off", "fixed",
                 "width", "offcore", "erratum", "any_thread", "pmu", "title"]
CPUID_COLUMNS = ["vendor", "family", "models", "steppings", "core", "table"]

GROUPS = {
    "nhm-ep": "nhm", "nhm-ex": "nhm", "wsm-ep-sp": "wsm", "wsm-ep-dp": "wsm", "wsm-ex": "wsm",
    "snb": "snb", "jkt": "snb", "ivb": "ivb", "ivt": "ivb", "hsw": "hsw", "hsx": "hsw",
    "bdw": "bdw", "bdw-de": "bdw", "bdx": "bdw", "skl": "skl", "skx": "skl", "clx": "skl",
    "icl": "icl", "icx": "icl", "rkl": "icl", "tgl": "icl", "adl-goldencove": "glc",
    "spr": "glc", "emr": "glc", "mtl-redwoodcove": "rwc", "gnr": "rwc", "arl-lioncove": "lnc",
    "lnl-lioncove": "lnc", "ptl-cougarcove": "lnc", "nvl-coyotecove": "cyc",
    "bnl": "bnl", "slm": "slm", "glm": "glm", "glp": "glm", "ehl": "tnt", "snr": "tnt",
    "adl-gracemont": "grt", "mtl-crestmont": "cmt", "arl-crestmont": "cmt", "srf": "cmt",
    "grr": "cmt", "arl-skymont": "skt", "lnl-skymont": "skt", "ptl-darkmont": "dkm",
    "cwf": "dkm", "nvl-arcticwolf": "arw", "knl": "knl",
}
ATOMS = {"bnl", "slm", "glm", "tnt", "grt", "cmt", "skt", "dkm", "arw"}
ALIASES = {
    "knl": "knm", "skl": "kbl,cfl,cml,whl", "clx": "cpx", "adl-goldencove": "rpl-goldencove",
    "adl-gracemont": "rpl-gracemont", "glp": "gemini-lake", "bnl": "bonnell", "slm": "silvermont",
    "snb": "sandybridge", "jkt": "snb-ep,sandybridge-ep", "ivb": "ivybridge", "ivt": "ivb-ep",
    "hsw": "haswell", "hsx": "hsw-ep", "bdw": "broadwell", "bdx": "bdw-ep", "icl": "icelake",
    "spr": "sapphirerapids", "emr": "emeraldrapids", "gnr": "graniterapids", "icx": "icelake-sp",
    "nhm-ep": "nhm,nehalem", "wsm-ep-sp": "wsm,westmere", "tgl": "tigerlake", "rkl": "rocketlake",
    "p4-prescott": "p4", "niagara1": "t1", "niagara2": "t2", "niagara2-plus": "t2+",
    "niagara3": "t3", "niagara4": "t4", "knc": "mic", "fam10h": "barcelona,shanghai,istanbul",
    "fam15h": "bulldozer,interlagos", "fam16h": "jaguar", "fam14h": "bobcat", "fam12h": "llano",
    "fam11h": "griffin",
}
TITLES = {
    "nhm-ep": "Nehalem", "nhm-ex": "Nehalem-EX", "wsm-ep-sp": "Westmere (one socket)",
    "wsm-ep-dp": "Westmere-EP", "wsm-ex": "Westmere-EX", "snb": "Sandy Bridge",
    "jkt": "Sandy Bridge-EP", "ivb": "Ivy Bridge", "ivt": "Ivy Bridge-EP", "hsw": "Haswell",
    "hsx": "Haswell-EP", "bdw": "Broadwell", "bdw-de": "Broadwell-DE", "bdx": "Broadwell-EP",
    "skl": "Skylake to Comet Lake", "skx": "Skylake-SP", "clx": "Cascade and Cooper Lake-SP",
    "icl": "Ice Lake", "icx": "Ice Lake-SP", "rkl": "Rocket Lake", "tgl": "Tiger Lake",
    "adl-goldencove": "Alder/Raptor Lake, performance cores",
    "adl-gracemont": "Alder/Raptor Lake, efficient cores",
    "spr": "Sapphire Rapids", "emr": "Emerald Rapids", "gnr": "Granite Rapids",
    "mtl-redwoodcove": "Meteor Lake, performance cores",
    "mtl-crestmont": "Meteor Lake, efficient cores",
    "arl-lioncove": "Arrow Lake, performance cores", "arl-skymont": "Arrow Lake, efficient cores",
    "arl-crestmont": "Arrow Lake, low-power cores",
    "lnl-lioncove": "Lunar Lake, performance cores", "lnl-skymont": "Lunar Lake, efficient cores",
    "ptl-cougarcove": "Panther Lake, performance cores",
    "ptl-darkmont": "Panther Lake, efficient cores",
    "nvl-coyotecove": "Nova Lake, performance cores",
    "nvl-arcticwolf": "Nova Lake, efficient cores",
    "bnl": "Bonnell", "slm": "Silvermont and Airmont", "glm": "Goldmont", "glp": "Goldmont Plus",
    "ehl": "Elkhart Lake", "snr": "Snow Ridge", "srf": "Sierra Forest", "grr": "Grand Ridge",
    "cwf": "Clearwater Forest", "knl": "Knights Landing and Knights Mill",
    "knc": "Knights Corner",
    "k7": "K7", "k8": "K8 (revision G names)", "fam10h": "Family 10h", "fam11h": "Family 11h",
    "fam12h": "Family 12h", "fam14h": "Family 14h", "fam15h": "Family 15h", "fam16h": "Family 16h",
    "zen1": "Zen, Zen+ and Hygon Dhyana", "zen2": "Zen 2", "zen3": "Zen 3", "zen4": "Zen 4",
    "zen5": "Zen 5", "zen6": "Zen 6",
    "p4-willamette": "Pentium 4, models 0 and 1",
    "p4-northwood-early": "Pentium 4, model 2 before stepping 7",
    "p4-northwood": "Pentium 4, model 2 from stepping 7", "p4-prescott": "Pentium 4, models 3 and 4",
    "p4-cedarmill": "Pentium 4, model 6",
    "niagara1": "UltraSPARC T1", "niagara2": "UltraSPARC T2", "niagara2-plus": "UltraSPARC T2+",
    "niagara3": "SPARC T3", "niagara4": "SPARC T4",
}


def read(path):
    with open(path, newline="") as file:
        lines = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    # intel_models.tsv names two columns `family`: the first is CPUID's.
    return [dict(reversed(list(zip(lines[0], line)))) for line in lines[1:]]


def write(path, columns, rows, comments):
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", newline="\n") as file:
        for comment in comments:
            file.write(f"# {comment}\n")
        file.write("\t".join(columns) + "\n")
        for row in rows:
            file.write("\t".join(str(row.get(column, "-") or "-") for column in columns) + "\n")


def fold(name):
    return name.lower().replace(":", ".")


def table_name(row):
    hybrid = {"ADL", "ARL", "LNL", "MTL", "NVL", "PTL"}
    model = row["model"].lower()
    return f"{model}-{row['uarch'].lower()}" if row["model"] in hybrid else model


def intel_select(row):
    """`config`, or `config@msr|config@msr` where an extra register goes with it."""
    configs = row["perf_config"].split("|")
    msrs = [msr for msr in row["msr_index"].split(",") if msr]
    if not msrs:
        return configs[0]
    if len(configs) == len(msrs):
        return "|".join(f"{config}@{msr}" for config, msr in zip(configs, msrs))
    if len(msrs) == 1 and len(configs) == 2:
        return f"{configs[0 if msrs[0] == '0x1a6' else 1]}@{msrs[0]}"
    if len(configs) == 1:
        # The Westmere-EX list names the first register only; the part has the twin.
        return f"{configs[0]}@{msrs[0]}"
    raise SystemExit(f"{row['model']} {row['event']}: {configs} do not pair with {msrs}")


def intel(facts):
    tables = {}
    versions = {(r["model"], r["uarch"]): r for r in read(facts / "models/intel_core_events.sizes.tsv")}
    for row in read(facts / "models/intel_core_events.tsv"):
        flags = []
        if row["taken_alone"] == "1":
            flags.append("alone")
        if row["pebs"] in ("1", "2") or row["precise"] == "1":
            flags.append("pebs")
        if row["deprecated"] == "1":
            flags.append("deprecated")
        # One unit per core executes for all its threads, AnyThread or not.
        if re.match(r"UOPS_EXECUTED\.CORE|UOPS_DISPATCHED\.CORE$", row["event"]):
            flags.append("core")
        select = intel_select(row)
        if row["model"] == "WSM-EX" and select == "0x1b7@0x1a6":
            select = "0x1b7@0x1a6|0x1bb@0x1a7"
        entry = dict(event=row["event"], select=select, counters=row["ctr_mask"],
                     smt_off=row["ctr_mask_htoff"], fixed=row["fixed"],
                     value=row["perf_config1"] if row["msr_index"] else "",
                     flags=",".join(flags), errata=row["errata"].replace(" ", ""))
        tables.setdefault(table_name(row), ((row["model"], row["uarch"]), []))[1].append(entry)
    for table, (key, rows) in tables.items():
        rows.sort(key=lambda row: fold(row["event"]))
        version = versions[key]
        write(HERE / f"intel/{table}.tsv", EVENT_COLUMNS, rows, [
            f"Intel perfmon {key[0]} core events, version {version['version']} of {version['date']};"
            " BSD-3-Clause, (c) Intel Corporation"])
    return sorted(tables)


def knc(facts):
    rows = [dict(event=r["event"], select=r["perf_config"], counters=r["ctr_mask"],
                 smt_off=r["ctr_mask"])
            for r in read(facts / "models/knl.tsv")
            if r["model"] == "KNC" and r["source"].startswith("libpfm4")]
    rows = [r for r in rows if r["counters"] not in ("", "-")]
    rows.sort(key=lambda row: fold(row["event"]))
    write(HERE / "intel/knc.tsv", EVENT_COLUMNS, rows, ["libpfm4 intel_knc; MIT"])


def amd(facts):
    tables = {}
    for row in read(facts / "models/amd_events.tsv"):
        if row["unit"] != "core" or not row["source"].startswith("libpfm4") or row["till_rev"]:
            continue
        # libpfm4 has a few unit masks of more than eight bits, which would set other fields.
        if int(row["perf_config"], 0) & 0x7b0000:
            continue
        flags = []
        if row["pair_event"] == "1":
            flags.append("pair")
        if row["nb_shared"] == "1":
            flags.append("node")
        if row["deprecated"] == "1":
            flags.append("deprecated")
        entry = dict(event=row["event"], select=row["perf_config"], counters=row["ctr_mask"],
                     smt_off=row["ctr_mask"], flags=",".join(flags))
        events = tables.setdefault(row["model"], (row["source"], {}))[1]
        known = events.get(fold(row["event"]))
        # Two rows of one name differ by revision: the later revision has more mask bits.
        if known is None or int(entry["select"], 0) >= int(known["select"], 0):
            events[fold(row["event"])] = entry
    for table, (source, events) in tables.items():
        rows = [events[name] for name in sorted(events)]
        write(HERE / f"amd/{table}.tsv", EVENT_COLUMNS, rows,
              [f"{source.split(')')[-1].strip()} of libpfm4; MIT; newest revision only"])
    return sorted(tables)


def niagara(facts):
    names = {"T1": "niagara1", "T2": "niagara2", "T2+": "niagara2-plus", "T3": "niagara3",
             "T4": "niagara4"}
    tables = {}
    for row in read(facts / "models/niagara.tsv"):
        code = 0
        if row["sl"] != "-":
            mask = int(row["mask"], 16) if row["mask"] else 0
            code = int(row["sl"], 16) << 8 | mask
        pics = sum(1 << int(pic) for pic in row["pics"].split(","))
        tables.setdefault(names[row["cpu"]], []).append(dict(
            event=row["event"], select=hex(code), counters=hex(pics), smt_off=hex(pics),
            value=row["emask_valid"], flags="core" if row["scope"].startswith("core") else ""))
    for table, rows in tables.items():
        rows.sort(key=lambda row: fold(row["event"]))
        write(HERE / f"niagara/{table}.tsv", EVENT_COLUMNS, rows, [
            "UltraSPARC supplements (T1, T2) and SPARC T3, T4 supplements; names as libpfm4 (MIT)"
            " and the vendor's tools spell them",
            "select is SL << 8 | MASK; value is the set of mask bits that SL defines"])


def models(facts, amd_tables):
    rows = []
    uarchs = {table_name(r): r for r in read(facts / "models/intel_uarch.tsv")}
    order = list(GROUPS)
    for table in order:
        row = uarchs[table]
        group = GROUPS[table]
        kind = "atom" if group in ATOMS else "knights" if group == "knl" else "core"
        scope = "core" if row["offcore_scope"].startswith("core") else "thread"
        scope = "-" if row["offcore_msrs"].startswith("0") else scope
        any_thread = {"yes": "yes", "fixed counters only (libpfm)": "fixed"}.get(row["anythread"], "no")
        low = "cpu_lowpower" if table == "arl-crestmont" else "cpu_atom"
        hybrid = table.split("-")[0] in {"adl", "arl", "lnl", "mtl", "nvl", "ptl"}
        pmu = low if hybrid and kind == "atom" else "-"
        mask = lambda count: hex((1 << int(count)) - 1)
        rows.append(dict(
            table=table, aliases=ALIASES.get(table), family="intel", groups=f"intel,{kind},{group}",
            smt=row["smt_threads"], general=mask(row["gp_ht_on"]), smt_off=mask(row["gp_ht_off"]),
            fixed=row["fixed_mask"], width=row["ctr_width"], offcore=scope,
            erratum="yes" if row["ht_excl_erratum"].startswith("yes") else "no",
            any_thread=any_thread, pmu=pmu, title=TITLES[table]))
    rows.append(dict(table="knc", aliases=ALIASES["knc"], family="knc", groups="knights,knc", smt=4,
                     general="0x3", smt_off="0x3", fixed="0x0", width=40, offcore="-", erratum="no",
                     any_thread="no", pmu="-", title=TITLES["knc"]))
    zen = lambda table: table.startswith("zen")
    for table in ["k7", "k8", "fam10h", "fam11h", "fam12h", "fam14h", "fam15h", "fam16h",
                  "zen1", "zen2", "zen3", "zen4", "zen5", "zen6"]:
        assert table in amd_tables, table
        count = 0x3F if zen(table) or table == "fam15h" else 0xF
        rows.append(dict(
            table=table, aliases=ALIASES.get(table), family="amd",
            groups="amd,zen" if zen(table) else "amd,oldamd", smt=2 if zen(table) else 1,
            general=hex(count), smt_off=hex(count), fixed="0x0", width=48, offcore="-",
            erratum="no", any_thread="no", pmu="-", title=TITLES[table]))
    for table in ["p4-willamette", "p4-northwood-early", "p4-northwood", "p4-prescott",
                  "p4-cedarmill"]:
        rows.append(dict(
            table=table, aliases=ALIASES.get(table), family="netburst", groups="netburst", smt=2,
            general="0x3ffff", smt_off="0x3ffff", fixed="0x0", width=40, offcore="-",
            erratum="no", any_thread="no", pmu="-", title=TITLES[table]))
    for row in read(facts / "models/niagara_cpus.tsv"):
        table = {"T1": "niagara1", "T2": "niagara2", "T2+": "niagara2-plus", "T3": "niagara3",
                 "T4": "niagara4"}[row["cpu"]]
        pics = hex((1 << int(row["pics_per_strand"])) - 1)
        rows.append(dict(
            table=table, aliases=ALIASES.get(table), family="niagara", groups="niagara",
            smt=row["strands_per_core"], general=pics, smt_off=pics, fixed="0x0",
            width=row["pic_width"], offcore="-", erratum="no", any_thread="no", pmu="-",
            title=TITLES[table]))
    rows.append(dict(table="linux", aliases=None, family="generic", groups="linux", smt=1,
                     general="0x0", smt_off="0x0", fixed="0x0", width=64, offcore="-",
                     erratum="no", any_thread="no", pmu="-",
                     title="Any processor, through the kernel's generic events"))
    write(HERE / "models.tsv", MODEL_COLUMNS, rows, [
        "Intel: SDM Vol. 3 and perfmon's counter lists; AMD: PPRs and BKDGs; see README.md"])


def cpuid(facts):
    rows = []
    steppings = {"": "-", "[01234]": "0-4", "[56789ABCDEF]": "5-15"}
    cores = {"": "-", "Core": "core", "Atom": "atom", "LowPower_Atom": "lowpower"}
    hybrid = {"ADL", "ARL", "LNL", "MTL", "NVL", "PTL"}
    for row in read(facts / "models/intel_models.tsv"):
        if row["table"] in ("", "-"):
            continue
        table = row["table"].lower()
        if row["table"] in hybrid:
            table = f"{table}-{row['uarch'].lower()}"
        rows.append(dict(vendor="GenuineIntel", family=row["family"], models=row["model"].lower(),
                         steppings=steppings[row["stepping_re"]], core=cores[row["core_role"]],
                         table=table))
    def add(vendor, family, models, table, steps="-"):
        rows.append(dict(vendor=vendor, family=family, models=models, steppings=steps, core="-",
                         table=table))
    add("GenuineIntel", 11, "0x1", "knc")
    add("GenuineIntel", 15, "0x0-0x1", "p4-willamette")
    add("GenuineIntel", 15, "0x2", "p4-northwood-early", "0-6")
    add("GenuineIntel", 15, "0x2", "p4-northwood", "7-15")
    add("GenuineIntel", 15, "0x3-0x4", "p4-prescott")
    add("GenuineIntel", 15, "0x6", "p4-cedarmill")
    for family, table in [(6, "k7"), (15, "k8"), (16, "fam10h"), (17, "fam11h"), (18, "fam12h"),
                          (20, "fam14h"), (21, "fam15h"), (22, "fam16h")]:
        add("AuthenticAMD", family, "0x0-0xff", table)
    for models, table in [("0x0-0x2f", "zen1"), ("0x50-0x5f", "zen1"), ("0x30-0x4f", "zen2"),
                          ("0x60-0x7f", "zen2"), ("0x90-0x91", "zen2"), ("0xa0-0xaf", "zen2")]:
        add("AuthenticAMD", 23, models, table)
    add("HygonGenuine", 24, "0x0-0xff", "zen1")
    for models, table in [("0x0-0xf", "zen3"), ("0x20-0x5f", "zen3"), ("0x10-0x1f", "zen4"),
                          ("0x60-0xaf", "zen4")]:
        add("AuthenticAMD", 25, models, table)
    for models, table in [("0x0-0x2f", "zen5"), ("0x40-0x4f", "zen5"), ("0x60-0x7f", "zen5"),
                          ("0xd0-0xd7", "zen5"), ("0x50-0x5f", "zen6"), ("0x80-0xaf", "zen6")]:
        add("AuthenticAMD", 26, models, table)
    write(HERE / "cpuid.tsv", CPUID_COLUMNS, rows, [
        "perfmon mapfile.csv (BSD-3-Clause), SDM Vol. 4 and AMD revision guides"])


def netburst(facts):
    source = facts / "netburst"
    comments = ["Intel SDM Vol. 3, tables of the Intel NetBurst microarchitecture"]
    escrs = [dict(escr=r["escr"].removeprefix("MSR_"), msr=r["msr"], select=r["cccr_escr_select"],
                  counters=r["counters"], half=r["half"], models=r["models(family15)"])
             for r in read(source / "escrs.tsv") if r["counters"] != "-"]
    write(HERE / "netburst/escrs.tsv", ["escr", "msr", "select", "counters", "half", "models"],
          escrs, comments)
    columns = ["event", "linux", "event_select", "escr_select", "half0", "half1", "threads",
               "models", "tags"]
    tags = {"front_end_event": "downstream", "execution_event": "downstream",
            "replay_event": "downstream", "uop_type": "upstream"}
    partners = {"IOQ_active_entries": "IOQ_allocation", "bsq_active_entries": "BSQ_allocation"}
    events = [dict(event=r["event"], linux=r["linux_idx"], event_select=r["event_select"],
                   escr_select=r["cccr_select"], half0=r["half0_escr"], half1=r["half1_escr"],
                   threads=r["thread_kind"].rstrip("?"),
                   models="0,1,2,3,4,6" if r["models"] == "some" else r["models"],
                   tags=tags.get(r["event"]) or partners.get(r["event"], ""))
              for r in read(source / "events.tsv")]
    write(HERE / "netburst/events.tsv", columns, events, comments)
    status = lambda s: ("reserved" if "reserved" in s else "unnamed" if s == "bits only"
                        else "field" if s.startswith("bits of") else "documented")
    # The procedure of SDM 18.17.1 spells it in capitals, the event's table does not.
    capitals = {"Running": "RUNNING"}
    masks = [dict(event=r["event"], mask=capitals.get(r["mask"], r["mask"]), bit=r["bit"], status=status(r["status"]),
                  aliases=",".join(re.sub(r"^[a-z0-9]+:", "", a) for a in r["aliases"].split(",")))
             for r in read(source / "masks.tsv")]
    write(HERE / "netburst/masks.tsv", ["event", "mask", "bit", "status", "aliases"], masks, comments)


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    facts = pathlib.Path(sys.argv[1])
    tables = intel(facts)
    missing = set(tables) ^ set(GROUPS)
    if missing:
        raise SystemExit(f"tables without a group: {sorted(missing)}")
    knc(facts)
    amd_tables = amd(facts)
    niagara(facts)
    models(facts, amd_tables)
    cpuid(facts)
    netburst(facts)


if __name__ == "__main__":
    main()
