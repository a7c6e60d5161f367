//! One example per language: it does what it says, or its absence is refused with the remedy.

mod common;

use common::{done, examples, fumehood, missing_languages};

/// Language, file, input, expected output.
const EXAMPLES: &[(&str, &str, &str, &str)] = &[
    ("python", "words.py", "b a b", "2 b\n1 a\n"),
    ("javascript", "later.js", "", "promises are kept\n"),
    ("typescript", "shapes.ts", "", "circle: 3.14\nsquare: 9.00\n"),
    ("go", "squares.go", "", "the squares of 1 to 10 add up to 385\n"),
    ("rust", "collatz.rs", "", "77031 takes 350 steps\n"),
    ("java", "Accounts.java", "", "total: 195\nAlan owes 5\n"),
    (
        "bash",
        "look.sh",
        "",
        "I am in /workspace\n/usr cannot be written\n/tmp can be written\nthere is no network\n",
    ),
    ("c", "sieve.c", "", "25 primes up to 100\n"),
    ("cpp", "median.cpp", "3 1 2", "median: 2\n"),
];

#[test]
fn every_example_does_what_it_says() {
    let missing = missing_languages();
    for (language, file, input, expected) in EXAMPLES {
        let path = examples().join(file);
        let mut command = fumehood(&["run", path.to_str().unwrap(), "--stdin", input]);
        let run = done(&mut command);
        match missing.iter().find(|missing| missing.language == *language) {
            None => {
                eprintln!("{language}: {:.2} s", run.took.as_secs_f64());
                run.expect(0, expected, "");
            }
            Some(missing) => {
                assert_eq!((run.code, run.stdout.as_str()), (125, ""), "{run:?}");
                assert!(run.stderr.contains(&missing.remedy), "{run:?}");
            }
        }
    }
}

#[test]
fn the_examples_cover_every_language() {
    let listed = done(&mut fumehood(&["languages", "--json"])).json();
    let names: Vec<&str> =
        listed.as_array().unwrap().iter().map(|each| each["name"].as_str().unwrap()).collect();
    let covered: Vec<&str> = EXAMPLES.iter().map(|(language, ..)| *language).collect();
    assert_eq!(names, covered);
}
