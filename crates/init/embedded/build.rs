//! Builds the programs that travel into boxes, so that fumehood is one file to install.
//!
//! They are built by a cargo of their own: as static programs, small, and for every profile of
//! fumehood alike. Their target directory is shared by all builds of the workspace.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

fn main() {
    let manifest = PathBuf::from(variable("CARGO_MANIFEST_DIR"));
    let crates = manifest.ancestors().nth(2).map(Path::to_path_buf).unwrap_or_default();
    for watched in ["init", "core", "typescript", "probe", "../attacks"] {
        println!("cargo::rerun-if-changed={}", crates.join(watched).join("src").display());
        println!("cargo::rerun-if-changed={}", crates.join(watched).join("Cargo.toml").display());
    }
    if variable("CARGO_CFG_TARGET_OS") != "linux" {
        return;
    }
    let target = variable("TARGET");
    let directory = shared_target_directory().join("embedded");
    build(&directory, &target, &["-p", "fumehood-init", "--features", "program"]);
    build(
        &directory,
        &target,
        &["-p", "fumehood-typescript", "-p", "fumehood-probe", "-p", "fumehood-attacks"],
    );
    let built = directory.join(&target).join("embedded");
    for (name, program) in [
        ("FUMEHOOD_INIT", "fumehood-init"),
        ("FUMEHOOD_TYPESCRIPT", "fumehood-typescript"),
        ("FUMEHOOD_PROBE", "fumehood-probe"),
        ("FUMEHOOD_ATTACKS", "fumehood-attacks"),
    ] {
        println!("cargo::rustc-env={name}={}", built.join(program).display());
    }
}

fn build(directory: &Path, target: &str, arguments: &[&str]) {
    let mut cargo = Command::new(variable("CARGO"));
    cargo
        .args(["build", "--quiet", "--profile", "embedded", "--target", target, "--target-dir"])
        .arg(directory)
        .args(arguments)
        .env(
            "CARGO_ENCODED_RUSTFLAGS",
            "-Ctarget-feature=+crt-static\x1f-Crelocation-model=static",
        );
    // What the outer cargo was told about its own build is not for this one.
    for inherited in ["RUSTFLAGS", "RUSTC_WORKSPACE_WRAPPER", "RUSTC_WRAPPER", "CARGO_BUILD_TARGET"]
    {
        cargo.env_remove(inherited);
    }
    let built = cargo.status();
    assert!(
        built.as_ref().is_ok_and(std::process::ExitStatus::success),
        "building {arguments:?} failed: {built:?}"
    );
}

/// The outermost directory that cargo marks as its own, above the one it gave us.
fn shared_target_directory() -> PathBuf {
    let own = PathBuf::from(variable("OUT_DIR"));
    own.ancestors()
        .filter(|directory| directory.join("CACHEDIR.TAG").exists())
        .last()
        .map_or_else(|| own.clone(), Path::to_path_buf)
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("cargo sets {name} for build scripts"))
}
