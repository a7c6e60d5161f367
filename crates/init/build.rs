//! Link arguments of the init program: no libc, no start files.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    for argument in ["-nostartfiles", "-nostdlib", "-static"] {
        println!("cargo::rustc-link-arg-bins={argument}");
    }
}
