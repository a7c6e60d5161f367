//! `cargo xtask sbom`: what is in the programs that are shipped, as a CycloneDX document.
//!
//! Made of what cargo resolves and of the lock file alone: the same sources give the same bytes.

use std::{
    collections::{BTreeMap, BTreeSet, btree_map::Entry},
    fs,
    path::PathBuf,
};

use serde_json::{Value, json};

use crate::{
    project::{cargo, root},
    shell,
};

/// The packages that are shipped: the program, and those that travel in it.
const SHIPPED: [&str; 5] =
    ["fumehood-cli", "fumehood-init", "fumehood-typescript", "fumehood-probe", "fumehood-attacks"];

/// Prints the document, or writes it.
pub fn main(words: &[&str]) -> Result<(), String> {
    let file = match words {
        [] => None,
        ["--write", file] => Some(PathBuf::from(file)),
        _ => return Err("usage: cargo xtask sbom [--write FILE]".to_owned()),
    };
    let metadata = shell::output(&mut cargo(&["metadata", "--format-version", "1", "--locked"]))?;
    let metadata: Value = serde_json::from_str(&metadata)
        .map_err(|error| format!("what cargo says is no JSON ({error})"))?;
    let lock = fs::read_to_string(root().join("Cargo.lock"))
        .map_err(|error| format!("Cargo.lock could not be read ({error})"))?;
    let text = format!("{:#}\n", document(&metadata, &checksums(&lock)));
    match file {
        Some(file) => fs::write(&file, text)
            .map_err(|error| format!("{} could not be written ({error})", file.display())),
        None => {
            print!("{text}");
            Ok(())
        }
    }
}

/// The digests of packages, by name and version.
fn checksums(lock: &str) -> BTreeMap<(String, String), String> {
    let value = |block: &str, key: &str| {
        let line = block.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = "))?;
        Some(line.trim_matches('"').to_owned())
    };
    let blocks = lock.split("[[package]]").skip(1);
    blocks
        .filter_map(|block| {
            let package = (value(block, "name")?, value(block, "version")?);
            Some((package, value(block, "checksum")?))
        })
        .collect()
}

fn document(metadata: &Value, checksums: &BTreeMap<(String, String), String>) -> Value {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let packages: BTreeMap<String, Value> =
        list(&metadata["packages"]).into_iter().map(|p| (text(&p["id"]), p)).collect();
    let nodes: BTreeMap<String, Value> =
        list(&metadata["resolve"]["nodes"]).into_iter().map(|n| (text(&n["id"]), n)).collect();
    // What a program is linked with: neither tests nor what only runs while building.
    let linked = |id: &str| -> BTreeSet<String> {
        let is_linked = |dep: &&Value| list(&dep["dep_kinds"]).iter().any(|k| k["kind"].is_null());
        let deps = nodes.get(id).map_or_else(Vec::new, |node| list(&node["deps"]));
        deps.iter().filter(is_linked).map(|dep| text(&dep["pkg"])).collect()
    };
    let is_shipped = |package: &&Value| SHIPPED.contains(&text(&package["name"]).as_str());
    let mut pending: Vec<String> =
        packages.values().filter(is_shipped).map(|package| text(&package["id"])).collect();
    let mut graph = BTreeMap::new();
    while let Some(id) = pending.pop() {
        if let Entry::Vacant(place) = graph.entry(id) {
            let below = linked(place.key());
            pending.extend(below.iter().cloned());
            place.insert(below);
        }
    }
    let reference = |id: &String| {
        let package = &packages[id];
        format!("pkg:cargo/{}@{}", text(&package["name"]), text(&package["version"]))
    };
    let component = |id: &String| {
        let package = &packages[id];
        let key = (text(&package["name"]), text(&package["version"]));
        let mut component = json!({
            "type": "library",
            "bom-ref": reference(id),
            "purl": reference(id),
            "name": key.0,
            "version": key.1,
        });
        if let Some(licence) = package["license"].as_str() {
            component["licenses"] = json!([{ "expression": licence.replace('/', " OR ") }]);
        }
        if let Some(digest) = checksums.get(&key) {
            component["hashes"] = json!([{ "alg": "SHA-256", "content": digest }]);
        }
        component
    };
    let dependencies = graph.iter().map(|(id, below)| {
        json!({ "ref": reference(id), "dependsOn": below.iter().map(reference).collect::<Vec<_>>() })
    });
    json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": { "component": {
            "type": "application",
            "name": "fumehood",
            "version": env!("CARGO_PKG_VERSION"),
        }},
        "components": graph.keys().map(component).collect::<Vec<_>>(),
        "dependencies": dependencies.collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_linked_is_listed() {
        let package = |name: &str| json!({ "id": name, "name": name, "version": "1.0.0", "license": "MIT/Apache-2.0" });
        let dep = |name: &str, kind: Value| json!({ "pkg": name, "dep_kinds": [{ "kind": kind }] });
        let packages = ["fumehood-cli", "used", "below", "built", "tested"].map(package);
        let metadata = json!({
            "packages": packages,
            "resolve": { "nodes": [
                { "id": "fumehood-cli", "deps": [
                    dep("used", Value::Null),
                    dep("built", "build".into()),
                    dep("tested", "dev".into()),
                ]},
                { "id": "used", "deps": [dep("below", Value::Null)] },
                { "id": "below", "deps": [] },
                { "id": "built", "deps": [] },
                { "id": "tested", "deps": [] },
            ]},
        });
        let lock = "[[package]]\nname = \"used\"\nversion = \"1.0.0\"\nchecksum = \"abc\"\n";
        let document = document(&metadata, &checksums(lock));
        let names: Vec<&str> = document["components"]
            .as_array()
            .unwrap()
            .iter()
            .map(|component| component["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, ["below", "fumehood-cli", "used"]);
        let used = &document["components"][2];
        assert_eq!(used["hashes"][0]["content"], "abc");
        assert_eq!(used["licenses"][0]["expression"], "MIT OR Apache-2.0");
        assert_eq!(document["dependencies"][1]["dependsOn"], json!(["pkg:cargo/used@1.0.0"]));
    }
}
