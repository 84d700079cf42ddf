//! McCalpin's machines as copied trees, and machines of which nothing is known.

use std::fs;
use std::path::PathBuf;

use pacman_core::Topology;
use serde_json::{Value, json};

use super::super::{TopoArgs, topo};
use super::{Die, shown};
use crate::tests::snapshot::snapshot;

/// A copied machine in its own directory, which is removed in the end.
struct Copied(PathBuf);

impl Copied {
    /// CPUs with their core ids, four contexts to a core, listed as Linux lists them.
    fn new(name: &str, header: &str, cores: &[u32], contexts: u32) -> Copied {
        let root = std::env::temp_dir().join(format!("pacman-tiles-{name}-{}", std::process::id()));
        let copied = Copied(root);
        let count = cores.len() as u32;
        let mut cpuinfo = String::new();
        for cpu in 0..count * contexts {
            let core = cores[(cpu % count) as usize];
            cpuinfo += &format!("processor\t: {cpu}\n{header}core id\t\t: {core}\n\n");
            let siblings: Vec<String> =
                (0..contexts).map(|context| (cpu % count + context * count).to_string()).collect();
            let file = format!("sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
            copied.file(&file, siblings.join(",").as_bytes());
        }
        copied.file("proc/cpuinfo", cpuinfo.as_bytes());
        let list = format!("0-{}\n", count * contexts - 1);
        copied.file("sys/devices/system/cpu/online", list.as_bytes());
        copied.file("sys/devices/system/cpu/present", list.as_bytes());
        copied
    }

    fn file(&self, path: &str, content: &[u8]) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// A PCI device with this part of its configuration space.
    fn device(&self, address: &str, device: u16, config: &[u8]) {
        let directory = format!("sys/bus/pci/devices/{address}");
        self.file(&format!("{directory}/vendor"), b"0x8086\n");
        self.file(&format!("{directory}/device"), format!("{device:#06x}\n").as_bytes());
        self.file(&format!("{directory}/config"), config);
    }

    fn run(&self, json: bool) -> (u8, String) {
        let args =
            TopoArgs { tiles: true, json, sysfs: Some(self.0.clone()), ..TopoArgs::default() };
        let mut out = Vec::new();
        let status = topo(&args, &mut out).unwrap_or_else(|error| error.status());
        (status, String::from_utf8(out).unwrap())
    }

    fn json(&self) -> (u8, Value) {
        let (status, text) = self.run(true);
        (status, serde_json::from_str(&text).unwrap())
    }

    /// The command's line on standard error where nothing is known.
    fn refusal(&self) -> String {
        shown::nothing(&Die::read(&Topology::from_sysfs(&self.0).unwrap()).unwrap())
    }
}

impl Drop for Copied {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn header(vendor: &str, family: u32, model: u32, name: &str) -> String {
    format!(
        "vendor_id\t: {vendor}\ncpu family\t: {family}\nmodel\t\t: {model}\nmodel name\t: {name}\n"
    )
}

/// The article's 68 cores: those of 76 whose tiles are not switched off.
fn knights_landing(name: &str, model: &str) -> Copied {
    let cores: Vec<u32> = (0..74).filter(|core| !matches!(core, 20 | 21 | 52..=55)).collect();
    Copied::new(name, &header("GenuineIntel", 6, 87, model), &cores, 4)
}

/// Configuration space whose word at 0x9c, and the next one, are these.
fn config(low: u32, high: u32) -> Vec<u8> {
    let mut space = vec![0; 256];
    space[..4].copy_from_slice(&[0x86, 0x80, 0x83, 0x20]);
    space[0x9c..0xa0].copy_from_slice(&low.to_le_bytes());
    space[0xa0..0xa4].copy_from_slice(&high.to_le_bytes());
    space
}

#[test]
fn the_articles_knights_landing() {
    let machine = knights_landing("knl", "Intel(R) Xeon Phi(TM) CPU 7250 @ 1.40GHz");
    let (status, text) = machine.run(false);
    assert_eq!(status, 0, "{text}");
    snapshot("tiles.txt", &text);

    let (status, facts) = machine.json();
    assert_eq!((status, &facts["tiles_without_cores"]), (0, &json!([10, 26, 27, 37])));
    assert_eq!(
        facts["tiles"][33],
        json!({ "tile": 36, "cpus": [66, 67, 134, 135, 202, 203, 270, 271] })
    );
    assert_eq!(facts["cha"]["dies"][0]["places"].as_array().unwrap().len(), 38);
}

#[test]
fn another_knights_landing_has_tiles_and_unknown_slices() {
    let (status, facts) = knights_landing("knl-7210", "Intel(R) Xeon Phi(TM) CPU 7210").json();
    assert_eq!((status, &facts["cha"]), (0, &Value::Null));
    assert!(facts["cha_unknown"].is_string(), "{facts}");
    assert_eq!(facts["tiles_without_cores"], json!([10, 26, 27, 37]));
}

#[test]
fn xeon_scalable_tells_its_slices_by_die() {
    let name = "Intel(R) Xeon(R) Platinum 8160 CPU @ 2.10GHz";
    let machine = Copied::new("skx", &header("GenuineIntel", 6, 85, name), &[0, 1, 2, 3], 2);
    // Bits above 27 are of something else.
    machine.device("0000:17:1e.3", 0x2083, &config(0xffbf_bdef, u32::MAX));
    machine.device("0000:85:1e.3", 0x2083, &config(0x0fff_fff0, 0));
    machine.device("0000:00:1f.0", 0xa1c1, &config(0, 0));
    let (status, text) = machine.run(false);
    assert_eq!(status, 0);
    snapshot("tiles-by-die.txt", &text);
    let (_, facts) = machine.json();
    assert_eq!(
        (&facts["tiles"], &facts["cha"]["dies"][1]["device"]),
        (&Value::Null, &json!("0000:85:1e.3"))
    );
}

#[test]
fn ice_lake_has_two_halves() {
    let machine = Copied::new("icx", &header("GenuineIntel", 6, 106, "Ice Lake"), &[0, 1], 2);
    machine.device("0000:7e:1e.3", 0x345b, &config(0xffff_fffe, 0x0000_00ff));
    let (status, facts) = machine.json();
    assert_eq!((status, &facts["cha"]["dies"][0]["mask"]), (0, &json!("0xfffffffffe")));
    assert_eq!(facts["cha"]["dies"][0]["places"].as_array().unwrap().len(), 39);
}

#[test]
fn what_hides_the_register_is_said_in_one_line() {
    let machine = |name: &str| Copied::new(name, &header("GenuineIntel", 6, 85, "Xeon"), &[0], 2);
    let (hidden, short, absent) = (machine("hidden"), machine("short"), machine("absent"));
    hidden.device("0000:00:00.0", 0x1237, &config(0, 0));
    short.device("0000:17:1e.3", 0x2083, &config(0, 0)[..64]);
    absent.device("0000:17:1e.3", 0x2083, &[0xff; 256]);
    for (machine, why) in [
        (hidden, "in PCI device 8086:2083, which"),
        (short, "shows 64 bytes, and the register is at 0x9c; it takes root to see more"),
        (absent, "answers nothing"),
    ] {
        let said = machine.refusal();
        assert!(said.contains(why) && !said.contains('\n'), "{said}");
        assert_eq!(machine.run(false), (1, String::new()));
        let (status, facts) = machine.json();
        assert_eq!(status, 1);
        assert!(facts["cha_unknown"].as_str().unwrap().contains(why), "{facts}");
    }
}

#[test]
fn other_processors_have_no_known_places() {
    let mut lines = String::new();
    // Knights Mill, Sapphire Rapids, Zen, and a family 6 that is not Intel's.
    for (name, header) in [
        ("knm", header("GenuineIntel", 6, 133, "Xeon Phi")),
        ("spr", header("GenuineIntel", 6, 143, "Sapphire")),
        ("zen", header("AuthenticAMD", 25, 1, "EPYC")),
        ("zhaoxin", header("CentaurHauls", 6, 87, "VIA")),
        ("arm", "CPU architecture: 8\nmodel name\t: Arm\n".to_owned()),
    ] {
        let machine = Copied::new(name, &header, &[0, 1], 1);
        assert_eq!(machine.run(false), (1, String::new()));
        let said = machine.refusal();
        lines += &format!("{said}\n");
        let (status, facts) = machine.json();
        assert_eq!((status, &facts["tiles"], &facts["cha"]), (1, &Value::Null, &Value::Null));
    }
    snapshot("tiles-unknown.txt", &lines);
}

#[test]
fn a_copy_without_cpuinfo_is_bad_input() {
    let machine = knights_landing("bare", "7250");
    fs::remove_file(machine.0.join("proc/cpuinfo")).unwrap();
    assert_eq!(machine.run(true), (2, String::new()));
}

#[test]
fn numbers_that_are_not_knights_landings_are_refused() {
    let machine = Copied::new("odd", &header("GenuineIntel", 6, 87, "Xeon Phi"), &[0, 1, 2], 4);
    let said = machine.refusal();
    assert!(said.contains("tile 1 "), "{said}");
    assert_eq!(machine.run(false).0, 1);
}
