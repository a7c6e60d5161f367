//! Nine languages: a first program, a compile error that is an outcome, a compile that is not
//! repeated.

use fumehood::{Outcome, Phase, Request, Status};
use fumehood_tests::{Attack, Case, Condition, Place, Weaker, assert_ended, assert_printed};

/// A program that reads a line and answers it. The answer shows that input, output and the
/// language's own arithmetic work.
const FIRST_PROGRAMS: &[(&str, &str)] = &[
    ("python", "print('hello', input(), 6 * 7)"),
    (
        "javascript",
        "const line = require('fs').readFileSync(0, 'utf8').trim(); console.log('hello', line, 6 * 7)",
    ),
    (
        "typescript",
        "import { readFileSync } from 'node:fs';\n\
         enum Answer { All = 6 * 7 }\n\
         const line: string = readFileSync(0, 'utf8').trim();\n\
         console.log('hello', line, Answer.All as number);",
    ),
    (
        "go",
        "package main\nimport \"fmt\"\nfunc main() { var s string; fmt.Scan(&s); fmt.Println(\"hello\", s, 6*7) }",
    ),
    (
        "rust",
        "fn main() { let mut s = String::new(); std::io::stdin().read_line(&mut s).unwrap(); println!(\"hello {} {}\", s.trim(), 6 * 7); }",
    ),
    (
        "java",
        "public class Greeting { public static void main(String[] a) { System.out.println(\"hello \" + new java.util.Scanner(System.in).next() + \" \" + 6 * 7); } }",
    ),
    ("bash", "read -r line; echo \"hello $line $((6 * 7))\""),
    (
        "c",
        "#include <stdio.h>\nint main(void) { char s[99]; if (scanf(\"%98s\", s) != 1) return 1; printf(\"hello %s %d\\n\", s, 6 * 7); return 0; }",
    ),
    (
        "cpp",
        "#include <iostream>\n#include <string>\nint main() { std::string s; std::cin >> s; std::cout << \"hello \" << s << ' ' << 6 * 7 << std::endl; }",
    ),
];

/// Sources that do not compile, and a word of what the compiler says about them.
const BROKEN_PROGRAMS: &[(&str, &str, &str)] = &[
    ("c", "int main(void) { return marker; }", "marker"),
    ("cpp", "int main() { return marker; }", "marker"),
    ("go", "package main\nfunc main() { marker() }", "marker"),
    ("rust", "fn main() { marker(); }", "marker"),
    ("java", "public class Main { public static void main(String[] a) { marker(); } }", "marker"),
    ("typescript", "const marker: number = ;", "main.ts"),
];

/// Programs whose compilation is worth remembering.
const COMPILED_ONCE: &[(&str, &str)] = &[
    ("go", "package main\nfunc main() { println(\"again\") }"),
    ("rust", "fn main() { eprintln!(\"again\"); }"),
    (
        "java",
        "public class Again { public static void main(String[] a) { System.err.println(\"again\"); } }",
    ),
    ("c", "#include <stdio.h>\nint main(void) { fprintf(stderr, \"again\\n\"); return 0; }"),
];

/// Compilers that an image may lack. A host must have them all.
const COMPILERS: &[(&str, Condition)] = &[
    ("c", Condition::new(|place| has(place, "gcc"), "the image has no gcc")),
    ("cpp", Condition::new(|place| has(place, "g++"), "the image has no g++")),
    ("go", Condition::new(|place| has(place, "go"), "the image has no go")),
    ("rust", Condition::new(|place| has(place, "rustc"), "the image has no rustc")),
    ("java", Condition::new(|place| has(place, "javac"), "the image has no javac")),
];

fn has(place: &Place, program: &str) -> bool {
    place.image.is_none() || place.programs.contains(program)
}

/// A case of a language, where the language is.
fn of(language: &str, case: Case) -> Case {
    match COMPILERS.iter().find(|(name, _)| *name == language) {
        Some((_, condition)) => case.only(*condition),
        None => case,
    }
}

pub fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    for (language, source) in FIRST_PROGRAMS {
        let case = Case::new(
            format!("languages::{language}"),
            move |_| Request::code(*language, *source).stdin("there\n"),
            |_, outcome| {
                assert_printed(outcome, "hello there 42\n");
                assert!(outcome.memory_used > 0);
                assert!(outcome.execution_time > 0.0);
            },
        );
        all.push(of(language, case));
    }
    for (language, source, word) in BROKEN_PROGRAMS {
        let case = Case::new(
            format!("languages::compile_error::{language}"),
            move |_| Request::code(*language, *source),
            move |_, outcome| {
                assert_ended(outcome, Status::Exited);
                assert!(!outcome.success);
                assert_eq!(outcome.phase, Phase::Compile);
                assert!(outcome.exit_code.is_some_and(|code| code != 0));
                let complaint = outcome.stderr.text();
                assert!(complaint.contains(word), "the compiler's words: {complaint}");
                assert!(outcome.phases.iter().all(|phase| phase.phase != Phase::Run));
            },
        );
        all.push(of(language, case));
    }
    for (language, source) in COMPILED_ONCE {
        let case = Case::steps(format!("languages::compiled_once::{language}"), move |scene| {
            // The place is part of the source: another backend's result must not be found.
            let source = format!("// {}\n{source}", scene.place.name);
            let first = scene.run(Request::code(*language, source.clone()));
            assert_eq!(cached(&first), [false], "the first run compiles");
            let second = scene.run(Request::code(*language, source.clone()));
            assert_eq!(cached(&second), [true], "the second does not");
            for outcome in [&first, &second] {
                assert!(outcome.success);
                assert_eq!(outcome.stderr.text(), "again\n");
            }
            let third = scene.run(Request::code(*language, format!("{source}\n// changed")));
            assert_eq!(cached(&third), [false], "another source is compiled");
        });
        all.push(of(language, case));
    }
    all.extend(compiler_is_boxed());
    all
}

/// Whether the compile phases came from the cache.
fn cached(outcome: &Outcome) -> Vec<bool> {
    let compiles = outcome.phases.iter().filter(|phase| phase.phase == Phase::Compile);
    compiles.map(|phase| phase.cached).collect()
}

/// A compiler is a program that reads files for whoever writes the source.
fn compiler_is_boxed() -> Vec<Case> {
    Attack::new(
        "languages::compiler_reads_host_file",
        |scene| {
            let secret = scene.file("secret.h", "#define SECRET \"found\"\n");
            let source = format!(
                "#include <stdio.h>\n#include \"{}\"\nint main(void) {{ puts(SECRET); return 0; }}",
                secret.display()
            );
            Request::code("c", source)
        },
        |_, outcome| {
            assert_eq!(outcome.phase, Phase::Compile);
            assert!(!outcome.success);
            assert!(outcome.stderr.text().contains("No such file"));
        },
    )
    .twin(Weaker::NoBox, |_, outcome| assert_printed(outcome, "found\n"))
    .cases()
}
