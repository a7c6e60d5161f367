//! Tells the linker where the program begins: with the start of the launcher, which has a box half
//! prepared by the time the C library is set up (see `crates/init/embedded/src/entry.rs`).

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, values: &[&str]| {
        std::env::var(name).is_ok_and(|value| values.contains(&value.as_str()))
    };
    if is("CARGO_CFG_TARGET_OS", &["linux"]) && is("CARGO_CFG_TARGET_ARCH", &["x86_64", "aarch64"])
    {
        for argument in ["-Wl,-u,fumehood_entry", "-Wl,-e,fumehood_entry"] {
            println!("cargo::rustc-link-arg-bin=fumehood={argument}");
        }
        if is("CARGO_CFG_TARGET_ENV", &["gnu"]) && c_library_unpacks_relocations() {
            println!("cargo::rustc-link-arg-bin=fumehood=-Wl,-z,pack-relative-relocs");
        }
    }
}

/// A static program relocates itself at every start. The twenty thousand entries for that are half
/// a megabyte to be read, or five kilobytes packed, which GNU's C library understands from 2.36 on.
fn c_library_unpacks_relocations() -> bool {
    let version = std::process::Command::new("getconf").arg("GNU_LIBC_VERSION").output();
    let text = version.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let number = text.as_deref().unwrap_or_default().trim().strip_prefix("glibc 2.");
    number.and_then(|minor| minor.parse::<u32>().ok()).is_some_and(|minor| minor >= 36)
}
