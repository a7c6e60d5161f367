//! Alpine or Debian, and why.

use std::{fmt, str::FromStr};

/// The family of a base image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// Small, with the C library musl.
    Alpine,
    /// Larger, with the C library that almost all compiled code is made for.
    Debian,
}

/// A base that is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a base: write alpine or debian")]
pub struct UnknownBase(String);

impl FromStr for Base {
    type Err = UnknownBase;

    fn from_str(text: &str) -> Result<Base, UnknownBase> {
        match text {
            "alpine" => Ok(Base::Alpine),
            "debian" => Ok(Base::Debian),
            _ => Err(UnknownBase(text.to_owned())),
        }
    }
}

impl fmt::Display for Base {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Base::Alpine => "Alpine",
            Base::Debian => "Debian",
        })
    }
}

/// A base that was asked for, and by whom.
#[derive(Clone, Debug)]
pub(super) struct Wish {
    pub base: Base,
    pub reason: String,
}

/// A base and the reason for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    pub base: Base,
    pub reason: String,
}

impl Choice {
    /// A wish wins; then what needs Debian; else Alpine, for the reason given.
    pub fn make(wish: Option<&Wish>, need: Option<String>, otherwise: &str) -> Choice {
        match (wish, need) {
            (Some(Wish { base: Base::Alpine, reason }), Some(need)) => {
                Choice { base: Base::Alpine, reason: format!("{reason}, although {need}") }
            }
            (Some(Wish { base, reason }), _) => Choice { base: *base, reason: reason.clone() },
            (None, Some(need)) => Choice { base: Base::Debian, reason: need },
            (None, None) => Choice { base: Base::Alpine, reason: otherwise.to_owned() },
        }
    }

    /// True for Debian.
    pub fn is_debian(&self) -> bool {
        self.base == Base::Debian
    }
}

/// The packages of the base that some library asks for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packages {
    pub debian: &'static [&'static str],
    pub alpine: &'static [&'static str],
}

impl Packages {
    /// Those of a base.
    pub fn of(&self, base: Base) -> &'static [&'static str] {
        match base {
            Base::Debian => self.debian,
            Base::Alpine => self.alpine,
        }
    }
}

/// The `RUN` that installs packages of the base; `None` for no packages.
pub(super) fn install(base: Base, packages: &[&str]) -> Option<String> {
    let mut packages = packages.to_vec();
    packages.sort_unstable();
    packages.dedup();
    let packages = packages.join(" ");
    match (packages.is_empty(), base) {
        (true, _) => None,
        (false, Base::Alpine) => Some(format!("RUN apk add --no-cache {packages}")),
        (false, Base::Debian) => Some(format!(
            "RUN apt-get update \\\n    && apt-get install --yes --no-install-recommends {packages} \\\n    && rm -rf /var/lib/apt/lists/*"
        )),
    }
}

/// The user of the final stage: not root, and a number that no image uses for somebody else.
pub(super) const USER: u32 = 10001;

/// The `RUN` that makes the user.
pub(super) fn make_user(base: Base) -> String {
    match base {
        Base::Alpine => {
            format!("RUN addgroup -g {USER} app && adduser -D -u {USER} -G app app")
        }
        Base::Debian => format!(
            "RUN groupadd --gid {USER} app && useradd --create-home --uid {USER} --gid {USER} app"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wish_wins_and_a_need_comes_second() {
        let wish = |base| Wish { base, reason: "asked for".to_owned() };
        let need = || Some("cgo needs it".to_owned());
        let made = |wish: Option<Wish>, need| {
            let Choice { base, reason } = Choice::make(wish.as_ref(), need, "static");
            (base, reason)
        };
        assert_eq!(made(None, None), (Base::Alpine, "static".into()));
        assert_eq!(made(None, need()), (Base::Debian, "cgo needs it".into()));
        assert_eq!(made(Some(wish(Base::Debian)), None), (Base::Debian, "asked for".into()));
        let forced = "asked for, although cgo needs it";
        assert_eq!(made(Some(wish(Base::Alpine)), need()), (Base::Alpine, forced.into()));
    }

    #[test]
    fn packages_are_installed_once_and_in_order() {
        let run = install(Base::Alpine, &["b", "a", "b"]).unwrap();
        assert_eq!(run, "RUN apk add --no-cache a b");
        assert_eq!(install(Base::Debian, &[]), None);
        assert!(install(Base::Debian, &["a"]).unwrap().contains("rm -rf /var/lib/apt/lists"));
    }
}
