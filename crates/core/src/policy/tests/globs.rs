//! File patterns: what they match, what they refuse.

use proptest::prelude::*;

use crate::policy::{Glob, GlobError};

#[track_caller]
fn glob(text: &str) -> Glob {
    Glob::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn patterns_match_what_they_say() {
    for (pattern, yes, no) in [
        (".env", &[".env", ".ENV", "./.env", ".env/"][..], &["a/.env", ".env.", ".envx"][..]),
        ("**/.env", &[".env", "a/.env", "a//b/./.Env"], &["a/.env/b", ".env.local", "a.env"]),
        ("**/.env.*", &[".env.local", "a/.env."], &[".env"]),
        (".ssh/**", &[".ssh", ".ssh/id", ".ssh/a/b"], &["a/.ssh", ".sshx"]),
        ("**/.ssh/**", &[".ssh", "a/.ssh/id"], &["ssh"]),
        ("a/**/b", &["a/b", "a/x/b", "a/x/y/b"], &["a", "a/b/c", "b"]),
        ("*.{pem,key}", &["a.pem", "b.KEY", ".key"], &["a.pemx", "d/a.pem", "pem"]),
        ("{a/b,c}.txt", &["a/b.txt", "c.txt"], &["a/c.txt", "b.txt"]),
        ("x{1,{2,3}}", &["x1", "x2", "x3"], &["x", "x4"]),
        ("[ab]c", &["ac", "BC"], &["cc", "abc"]),
        ("[a-c]?", &["bz", "Cz"], &["dz", "b"]),
        ("[!a]", &["b", "A"], &["a", "bb"]),
        ("[^a]", &["b"], &["a"]),
        ("[]]", &["]"], &["["]),
        ("[[]", &["["], &["]"]),
        ("[{]", &["{"], &["}"]),
        ("\\*", &["*"], &["a"]),
        ("\\[a]", &["[a]"], &["a"]),
        ("ü*", &["üä"], &["u"]),
        ("a?b", &["aüb", "a.b"], &["a/b", "ab"]),
        (".//a///b/", &["a/b"], &["a"]),
        ("a*b*c", &["abc", "aXbXbc"], &["abcd", "ac"]),
    ] {
        for path in yes {
            assert!(glob(pattern).matches(path), "{pattern} should match {path}");
        }
        for path in no {
            assert!(!glob(pattern).matches(path), "{pattern} should not match {path}");
        }
    }
}

#[test]
fn what_is_hidden_hides_what_is_in_it() {
    assert!(glob(".git/hooks").covers(".git/hooks/pre-commit"));
    assert!(glob("**/.ssh").covers("home/.ssh/keys/one"));
    assert!(glob(".env").covers("src/../.env"), "no detour gets past a pattern");
    assert!(!glob(".git/hooks").covers(".git"));
    assert!(!glob("a/b").covers("a"));
}

#[test]
fn directories_without_matches_can_be_left_out() {
    assert!(glob("a/b").may_match_below("") && glob("a/b").may_match_below("a"));
    assert!(!glob("a/b").may_match_below("a/b") && !glob("a/b").may_match_below("c"));
    assert!(glob("**/x").may_match_below("any/where"));
    assert!(glob("a/**").may_match_below("a/b"));
}

#[test]
fn what_is_no_pattern_is_refused() {
    for (text, error) in [
        ("", GlobError::Empty),
        ("./", GlobError::Empty),
        ("{,a}", GlobError::Empty),
        ("/etc", GlobError::Absolute),
        ("{/etc,a}", GlobError::Absolute),
        ("../a", GlobError::Upward),
        ("a/../b", GlobError::Upward),
        ("a/{..,b}", GlobError::Upward),
        ("[a", GlobError::Bracket),
        ("[", GlobError::Bracket),
        ("[!", GlobError::Bracket),
        ("[]", GlobError::Bracket),
        ("[a/b]", GlobError::Bracket),
        ("[z-a]", GlobError::Range { from: 'z', to: 'a' }),
        ("{a", GlobError::Brace),
        ("{a,{b}", GlobError::Brace),
        ("a\\", GlobError::Backslash),
        ("a**", GlobError::DoubleStar),
        ("a\0b", GlobError::Control),
        ("a\nb", GlobError::Control),
        (&"a/".repeat(100), GlobError::TooLong),
        (&"{a,b}".repeat(7), GlobError::TooLong),
        (&"x".repeat(2000), GlobError::TooLong),
    ] {
        assert_eq!(Glob::parse(text).err(), Some(error), "{text:?}");
    }
}

#[test]
fn patterns_for_everything_are_known() {
    for text in ["**", "*", "**/*", "*/**", "**/**", "?*", "{a,*}", "./**"] {
        assert!(glob(text).is_everything(), "{text}");
    }
    for text in ["*/*", "*.key", "a/**", "**/a", "?", "??*"] {
        assert!(!glob(text).is_everything(), "{text}");
    }
}

#[test]
fn hard_patterns_take_no_time() {
    let pattern = glob(&"*a".repeat(200));
    assert!(!pattern.matches(&"a".repeat(250).replace("aaa", "aab")));
    let pattern = glob(&"**/a/".repeat(25));
    assert!(!pattern.matches(&"a/b/".repeat(400)));
}

/// Characters that mean something, and some that do not.
fn soup() -> impl Strategy<Value = String> {
    proptest::collection::vec(
        prop_oneof![
            Just('*'),
            Just('?'),
            Just('['),
            Just(']'),
            Just('{'),
            Just('}'),
            Just(','),
            Just('!'),
            Just('/'),
            Just('.'),
            Just('\\'),
            Just('-'),
            Just('a'),
            Just('B'),
            Just('ü'),
            Just('💥'),
        ],
        0..24,
    )
    .prop_map(|characters| characters.into_iter().collect())
}

fn path() -> impl Strategy<Value = String> {
    proptest::collection::vec("[aB.ü\\-*]{1,4}", 1..5).prop_map(|names| names.join("/"))
}

/// A path as a pattern that means itself.
fn quoted(path: &str) -> String {
    path.replace('*', "\\*")
}

proptest! {
    #[test]
    fn nothing_panics(pattern in soup(), path in soup()) {
        if let Ok(glob) = Glob::parse(&pattern) {
            let _ = (glob.matches(&path), glob.covers(&path), glob.may_match_below(&path));
            // What is shown can be read back and means the same.
            let again = Glob::parse(glob.as_str()).unwrap();
            prop_assert_eq!(again.matches(&path), glob.matches(&path));
        }
    }

    #[test]
    fn a_path_means_itself_in_every_spelling(path in path()) {
        prop_assume!(!path.split('/').any(|name| name == "." || name == ".."));
        let glob = Glob::parse(&quoted(&path)).unwrap();
        prop_assert!(glob.matches(&path));
        prop_assert!(glob.matches(&path.to_ascii_uppercase()));
        prop_assert!(glob.matches(&path.replace('/', "//")));
        let (roundabout, below) = (format!("./{path}/"), format!("{path}/below"));
        prop_assert!(glob.matches(&roundabout));
        prop_assert!(glob.covers(&below));
        let dotted = format!("{path}.");
        prop_assert!(!glob.matches(&dotted), "a dot more is another name");
        let spaced = Glob::parse(&quoted(&path).replace('/', "//./")).unwrap();
        prop_assert_eq!(spaced.as_str(), glob.as_str());
    }

    #[test]
    fn what_matches_below_was_announced(pattern in soup(), path in path()) {
        if let Ok(glob) = Glob::parse(&pattern)
            && glob.matches(&path)
            && let Some((above, _)) = path.rsplit_once('/')
        {
            prop_assert!(glob.may_match_below(above));
        }
    }
}
