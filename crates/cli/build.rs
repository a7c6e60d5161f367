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
    }
}
