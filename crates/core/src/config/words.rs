//! Values that are one word of a few: an enum from its words.

/// Makes an enum whose variants are written as words, with everything that a value needs.
macro_rules! words {
    ($(#[$about:meta])* $name:ident {
        $($(#[$variant_about:meta])* $variant:ident = $word:literal),+ $(,)?
    }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$variant_about])* $variant),+
        }

        impl $name {
            /// Each of them.
            pub const ALL: &'static [$name] = &[$($name::$variant),+];
            /// Their words, in the same order.
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            /// The word.
            pub fn name(self) -> &'static str {
                match self {
                    $($name::$variant => $word),+
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::config::ValueError;

            fn from_str(given: &str) -> Result<$name, $crate::config::ValueError> {
                match given {
                    $($word => Ok($name::$variant),)+
                    _ => Err($crate::config::ValueError::Word {
                        given: given.to_owned(),
                        words: $name::WORDS.to_vec(),
                    }),
                }
            }
        }

        impl $crate::config::written::Scalar for $name {
            const KIND: $crate::config::Kind = $crate::config::Kind::Word($name::WORDS);
        }
    };
}

pub(super) use words;
