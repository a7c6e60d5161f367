//! The schema says what the parser takes, and is checked in.

use std::{collections::BTreeSet, env, fs, path::Path};

use crate::policy::{Document, keys::keys, schema};

const FILE: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema/sandbox.policy.schema.json");

#[test]
fn the_schema_that_is_checked_in_is_current() {
    let text = format!("{:#}\n", schema());
    if env::var_os("UPDATE_SNAPSHOTS").is_some() {
        fs::write(FILE, &text).unwrap();
    }
    assert_eq!(fs::read_to_string(FILE).unwrap(), text, "run the tests with UPDATE_SNAPSHOTS=1");
}

fn read(text: &str) -> Result<Document, String> {
    Document::read("t.yaml", text, Path::new("/")).map_err(|problem| problem.to_string())
}

/// A key of a section with a value, as a policy.
fn with(section: &str, key: &str, value: &str) -> String {
    match section {
        "" if key == "version" => format!("version: {value}\n"),
        "" => format!("version: 1\n{key}: {value}\n"),
        "fs.mounts" => {
            let rest = match key {
                "source" => "target: /t",
                "target" => "source: s",
                _ => "source: s, target: /t",
            };
            format!("version: 1\nfs: {{mounts: [{{{rest}, {key}: {value}}}]}}\n")
        }
        "net.allow.inject" => {
            let rest = match key {
                "header" => "from: env:A",
                "from" => "header: A",
                _ => "from: env:A, header: A",
            };
            format!(
                "version: 1\nnet: {{allow: [{{host: a.com, inject: {{{rest}, {key}: {value}}}}}]}}\n"
            )
        }
        "net.allow" | "ceiling.net" => {
            let rest = if key == "host" { "tls: any" } else { "host: a.com" };
            let (section, key_of_section) = section.split_once('.').unwrap();
            format!("version: 1\n{section}: {{{key_of_section}: [{{{rest}, {key}: {value}}}]}}\n")
        }
        "net.limits" => format!("version: 1\nnet: {{limits: {{{key}: {value}}}}}\n"),
        section => format!("version: 1\n{section}:\n  {key}: {value}\n"),
    }
}

#[test]
fn every_key_of_the_schema_is_taken_by_the_parser() {
    for key in keys() {
        let text = with(key.section, key.name, key.example);
        assert!(read(&text).is_ok(), "{text}\n{:?}", read(&text).err());
        // The parser does look at it: nobody takes a list of lists.
        let wrong = with(key.section, key.name, "[[[]]]");
        assert!(read(&wrong).is_err(), "{wrong}");
    }
}

#[test]
fn every_key_of_the_parser_is_in_the_schema() {
    let schema = schema();
    for (section, pointer) in [
        ("", "/properties"),
        ("fs", "/properties/fs/properties"),
        ("fs.mounts", "/properties/fs/properties/mounts/items/properties"),
        ("net", "/properties/net/properties"),
        ("net.allow", "/properties/net/properties/allow/items/oneOf/1/properties"),
        (
            "net.allow.inject",
            "/properties/net/properties/allow/items/oneOf/1/properties/inject/properties",
        ),
        ("net.limits", "/properties/net/properties/limits/properties"),
        ("ceiling.net", "/properties/ceiling/properties/net/oneOf/1/items/oneOf/1/properties"),
        ("proc", "/properties/proc/properties"),
        ("env", "/properties/env/properties"),
        ("tools", "/properties/tools/properties"),
        ("ledger", "/properties/ledger/properties"),
        ("ceiling", "/properties/ceiling/properties"),
    ] {
        let problem = read(&with(section, "zzzzzzzzzzzzzzzzzzzzzz", "1")).unwrap_err();
        let (_, known) = problem.split_once("the keys are ").expect("the parser lists its keys");
        let parser: BTreeSet<&str> = known.trim().split(", ").collect();
        let described = schema.pointer(pointer).unwrap().as_object().unwrap();
        let described: BTreeSet<&str> = described.keys().map(String::as_str).collect();
        assert_eq!(parser, described, "in section `{section}`");
    }
}
