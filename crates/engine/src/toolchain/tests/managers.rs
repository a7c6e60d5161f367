//! The real programs behind pyenv, rustup, nvm, sdkman, asdf and the alternatives of Debian.

use std::fs;

use super::{Tree, here_only};
use crate::toolchain::{Problem, discover, scout::Scout};

fn pyenv() -> Tree {
    let mut tree = Tree::new();
    tree.in_path("home/.pyenv/shims");
    tree.program("home/.pyenv/shims/python3", "a shim must never run");
    for version in ["2.7.18", "3.8.1", "3.9.18", "3.11.7", "3.13.0"] {
        tree.python(&format!("home/.pyenv/versions/{version}"));
    }
    tree
}

#[test]
fn pyenv_uses_the_selected_version_and_runs_nothing() {
    let tree = pyenv();
    tree.file("home/.pyenv/version", "3.11.7\n");
    let found = tree.find("python").unwrap();
    let prefix = tree.at("home/.pyenv/versions/3.11.7");
    assert_eq!(found.version, "3.11.7");
    assert_eq!(found.programs["python"], prefix.join("bin/python3"));
    assert_eq!(found.path_dirs, [prefix.join("bin")]);
    assert_eq!(found.mounts, [prefix]);
    assert!(tree.nothing_ran());
}

#[test]
fn pyenv_falls_back_to_the_newest_version_that_is_new_enough() {
    let mut tree = pyenv();
    for (selected, version) in
        [("", "3.13.0"), ("3.8.1", "3.13.0"), ("3.12.0", "3.13.0"), ("2.7.18:3.9", "3.9.18")]
    {
        tree.file("home/.pyenv/version", selected);
        assert_eq!(tree.find("python").unwrap().version, version, "{selected}");
    }
    tree.variable("PYENV_VERSION", "3.11");
    assert_eq!(tree.find("python").unwrap().version, "3.11.7");
}

#[test]
fn pyenv_steps_aside_when_the_system_is_selected() {
    let mut tree = pyenv();
    tree.file("home/.pyenv/version", "system\n");
    tree.in_path("other/3.10.1/bin");
    tree.python("other/3.10.1");
    assert_eq!(tree.find("python").unwrap().version, "3.10.1");
}

#[test]
fn rustup_leads_to_the_default_toolchain() {
    let mut tree = Tree::new();
    tree.in_path("home/.cargo/bin");
    tree.program("home/.cargo/bin/rustup", "a shim must never run");
    tree.link("home/.cargo/bin/rustc", "rustup");
    for name in ["1.80.0", "nightly", "stable"] {
        let prefix = format!("home/.rustup/toolchains/{name}-x86_64-unknown-linux-gnu");
        tree.file(&format!("{prefix}/lib/rustlib/components"), "");
        tree.program(&format!("{prefix}/bin/rustc"), &format!("rustc 1.95.0 ({name})"));
        tree.program(&format!("{prefix}/bin/cc"), "");
    }
    let prefix = |tree: &Tree, name: &str| {
        tree.at(&format!("home/.rustup/toolchains/{name}-x86_64-unknown-linux-gnu"))
    };

    let found = tree.find("rust").unwrap();
    assert_eq!(found.mounts, [prefix(&tree, "stable")], "without settings");
    assert_eq!(found.version, "1.95.0");

    tree.file("home/.rustup/settings.toml", "default_toolchain = \"nightly\"\n[overrides]\n");
    assert_eq!(tree.find("rust").unwrap().mounts, [prefix(&tree, "nightly")]);

    tree.variable("RUSTUP_TOOLCHAIN", "1.80.0-x86_64-unknown-linux-gnu");
    assert_eq!(tree.find("rust").unwrap().mounts, [prefix(&tree, "1.80.0")]);

    // As rustup did it before: hard links.
    fs::remove_file(tree.at("home/.cargo/bin/rustc")).unwrap();
    fs::hard_link(tree.at("home/.cargo/bin/rustup"), tree.at("home/.cargo/bin/rustc")).unwrap();
    assert_eq!(tree.find("rust").unwrap().mounts, [prefix(&tree, "1.80.0")]);
    let ran = fs::read_to_string(tree.at("ran")).unwrap();
    assert!(!ran.contains(".cargo"), "a shim ran: {ran}");
}

#[test]
fn nvm_is_found_beyond_path_and_follows_its_default_alias() {
    let tree = Tree::new();
    for version in ["v9.0.0", "v18.20.0", "v20.11.1", "v22.1.0"] {
        tree.file(&format!("home/.nvm/versions/node/{version}/include/node/node.h"), "");
        tree.program(&format!("home/.nvm/versions/node/{version}/bin/node"), "");
    }
    assert_eq!(tree.find("javascript").unwrap().version, "22.1.0");
    tree.file("home/.nvm/alias/lts/*", "lts/iron\n");
    tree.file("home/.nvm/alias/lts/iron", "v20.11.1\n");
    for (alias, version) in
        [("18", "18.20.0"), ("lts/*", "20.11.1"), ("node", "22.1.0"), ("../../x", "22.1.0")]
    {
        tree.file("home/.nvm/alias/default", alias);
        assert_eq!(tree.find("typescript").unwrap().version, version, "{alias}");
    }
    assert!(tree.nothing_ran());
}

fn jdk(tree: &Tree, prefix: &str, version: &str) {
    tree.file(&format!("{prefix}/release"), &format!("X=\"1\"\nJAVA_VERSION=\"{version}\"\n"));
    for name in ["java", "javac", "jar"] {
        tree.program(&format!("{prefix}/bin/{name}"), "");
    }
}

#[test]
fn sdkman_uses_the_current_link_without_any_link_in_the_result() {
    let tree = Tree::new();
    for version in ["17.0.2-tem", "21.0.1-tem"] {
        let bare = version.trim_end_matches("-tem");
        jdk(&tree, &format!("home/.sdkman/candidates/java/{version}"), bare);
    }
    tree.link("home/.sdkman/candidates/java/current", "17.0.2-tem");
    let found = tree.find("java").unwrap();
    let prefix = tree.at("home/.sdkman/candidates/java/17.0.2-tem");
    assert_eq!(found.version, "17.0.2");
    assert_eq!(found.env["JAVA_HOME"], prefix.to_str().unwrap());
    for name in ["java", "javac", "jar"] {
        assert_eq!(found.programs[name], prefix.join("bin").join(name));
    }
    assert_eq!(found.mounts, [prefix]);
    assert!(tree.nothing_ran());
}

#[test]
fn alternatives_are_followed_and_the_compiler_decides_about_the_runtime() {
    let mut tree = Tree::new();
    jdk(&tree, "jvm/java-17", "17.0.15");
    tree.in_path("bin");
    tree.link("alternatives/javac", tree.at("jvm/java-17/bin/javac"));
    tree.link("bin/javac", tree.at("alternatives/javac"));
    tree.program("bin/java", "another runtime");
    let found = tree.find("java").unwrap();
    assert_eq!(found.programs["javac"], tree.at("jvm/java-17/bin/javac"));
    assert_eq!(found.programs["java"], tree.at("jvm/java-17/bin/java"));
    assert_eq!(found.mounts, [tree.at("jvm/java-17")]);
}

#[test]
fn asdf_reads_the_tool_versions_of_the_home() {
    let mut tree = Tree::new();
    tree.in_path("home/.asdf/shims");
    tree.program("home/.asdf/shims/go", "a shim must never run");
    for version in ["1.21.0", "1.23.4"] {
        let prefix = format!("home/.asdf/installs/golang/{version}/go");
        tree.file(&format!("{prefix}/VERSION"), &format!("go{version}\ntime x\n"));
        tree.file(&format!("{prefix}/src/runtime/proc.go"), "");
        tree.program(&format!("{prefix}/bin/go"), "");
    }
    assert_eq!(tree.find("go").unwrap().version, "1.23.4");
    tree.file("home/.tool-versions", "golangci 9\ngolang 1.21.0 # old\n");
    let found = tree.find("go").unwrap();
    assert_eq!(found.version, "1.21.0");
    assert_eq!(found.env["GOROOT"], found.mounts[0].to_str().unwrap());
    assert!(tree.nothing_ran());
}

#[test]
fn a_virtual_environment_leads_to_the_installation_behind_it() {
    let mut tree = Tree::new();
    let python = tree.python("pythons/3.12.1");
    tree.in_path("project/.venv/bin");
    tree.link("project/.venv/bin/python3", &python);
    assert_eq!(tree.find("python").unwrap().mounts, [tree.at("pythons/3.12.1")]);

    // One that was made with copies has nothing behind it.
    fs::remove_file(tree.at("project/.venv/bin/python3")).unwrap();
    tree.python("project/.venv");
    let file = tree.file("project/.venv/pyvenv.cfg", "home = /usr/bin\n");
    let path = tree.at("project/.venv/bin/python3");
    assert_eq!(tree.find("python").unwrap_err().problems, [Problem::View { path, file }]);
}

#[test]
fn a_multiplexer_is_passed_over() {
    let mut tree = Tree::new();
    tree.in_path("wrappers");
    let real = tree.program("wrappers/ccache", "");
    tree.link("wrappers/gcc", "ccache");
    let missing = tree.find("c").unwrap_err();
    assert_eq!(missing.problems, [Problem::OtherProgram { path: tree.at("wrappers/gcc"), real }]);

    tree.in_path("gcc/bin");
    tree.file("gcc/lib/gcc/x86_64-linux-gnu/12/cc1", "");
    tree.program("gcc/bin/x86_64-linux-gnu-gcc-12", "gcc (Debian 12.2.0-14) 12.2.0");
    tree.link("gcc/bin/gcc", "x86_64-linux-gnu-gcc-12");
    let found = discover::one(&here_only("c"), &tree.environment, &mut Scout::default()).unwrap();
    assert_eq!(found.programs["cc"], tree.at("gcc/bin/gcc"), "compilers look at their name");
    assert_eq!(found.version, "12.2.0");
}
