//! Values as people write them: in a file, where they have a kind and a place, and as one text in a
//! variable or behind a flag.

use std::{collections::BTreeMap, fmt::Display, num::NonZeroU32, str::FromStr};

use serde_json::Value;

use super::{Kind, ValueError};
use crate::{
    Bytes, Cores, TimeSpan,
    source::{Node, Place, Value as Tree},
};

/// What separates items in a variable.
const SEPARATOR: char = ',';

/// Something that can be the value of a key.
pub trait Written: Sized {
    /// What it looks like.
    const KIND: Kind;

    /// Reads it from a file.
    fn read(node: &Node) -> Result<Self, Misfit>;

    /// Reads it from a variable or from behind a flag: lists with commas between the items.
    fn parse(text: &str) -> Result<Self, ValueError>;

    /// The value, for people and programs; nothing if there is none.
    fn show(&self) -> Value;
}

/// Why a value in a file could not be read, and where.
#[derive(Debug)]
pub struct Misfit {
    /// Where.
    pub place: Place,
    /// Why.
    pub cause: Cause,
}

/// What is wrong with a value.
#[derive(Debug)]
pub enum Cause {
    /// It is a list where a text should be, or the like.
    Shape {
        /// What should be there.
        wanted: &'static str,
        /// What is there.
        found: &'static str,
    },
    /// It cannot be read.
    Value(ValueError),
}

impl Misfit {
    fn shape(node: &Node, kind: Kind) -> Misfit {
        let cause = Cause::Shape { wanted: kind.shape(), found: node.kind() };
        Misfit { place: node.place, cause }
    }

    fn at(place: Place) -> impl FnOnce(ValueError) -> Misfit {
        move |error| Misfit { place, cause: Cause::Value(error) }
    }
}

/// A single value with a parser of its own.
pub trait Scalar: Sized + Display + FromStr<Err: Into<ValueError>> {
    /// What it looks like.
    const KIND: Kind;

    /// The value, for people and programs.
    fn show(&self) -> Value {
        Value::String(self.to_string())
    }
}

impl<T: Scalar> Written for T {
    const KIND: Kind = <T as Scalar>::KIND;

    fn read(node: &Node) -> Result<T, Misfit> {
        match &node.value {
            Tree::Scalar { text, .. } if !node.is_nothing() => {
                Written::parse(text).map_err(Misfit::at(node.place))
            }
            _ => Err(Misfit::shape(node, <T as Scalar>::KIND)),
        }
    }

    fn parse(text: &str) -> Result<T, ValueError> {
        text.parse().map_err(Into::into)
    }

    fn show(&self) -> Value {
        Scalar::show(self)
    }
}

impl Written for bool {
    const KIND: Kind = Kind::Flag;

    fn read(node: &Node) -> Result<bool, Misfit> {
        match &node.value {
            Tree::Scalar { text, quoted: false } if matches!(text.as_str(), "true" | "false") => {
                Ok(text == "true")
            }
            _ => Err(Misfit::shape(node, Kind::Flag)),
        }
    }

    fn parse(text: &str) -> Result<bool, ValueError> {
        match text {
            "true" | "1" => Ok(true),
            "false" | "0" => Ok(false),
            _ => Err(ValueError::Flag { given: text.to_owned() }),
        }
    }

    fn show(&self) -> Value {
        Value::Bool(*self)
    }
}

impl<T: Written> Written for Option<T> {
    const KIND: Kind = T::KIND;

    fn read(node: &Node) -> Result<Option<T>, Misfit> {
        T::read(node).map(Some)
    }

    fn parse(text: &str) -> Result<Option<T>, ValueError> {
        T::parse(text).map(Some)
    }

    fn show(&self) -> Value {
        self.as_ref().map_or(Value::Null, T::show)
    }
}

impl<T: Scalar> Written for Vec<T> {
    const KIND: Kind = Kind::List(&<T as Scalar>::KIND);

    fn read(node: &Node) -> Result<Vec<T>, Misfit> {
        match &node.value {
            Tree::List(items) => items.iter().map(T::read).collect(),
            _ => Err(Misfit::shape(node, Self::KIND)),
        }
    }

    fn parse(text: &str) -> Result<Vec<T>, ValueError> {
        text.split(SEPARATOR).map(|item| Written::parse(item.trim())).collect()
    }

    fn show(&self) -> Value {
        self.iter().map(Scalar::show).collect()
    }
}

impl<K: Scalar + Ord, V: Scalar> Written for BTreeMap<K, V> {
    const KIND: Kind = Kind::Map { name: &<K as Scalar>::KIND, value: &<V as Scalar>::KIND };

    fn read(node: &Node) -> Result<Self, Misfit> {
        let Tree::Map(entries) = &node.value else {
            return Err(Misfit::shape(node, Self::KIND));
        };
        let mut map = BTreeMap::new();
        for entry in entries {
            let name = K::parse(&entry.key.text).map_err(Misfit::at(entry.key.place))?;
            let value = V::read(&entry.value)?;
            insert(&mut map, name, value).map_err(Misfit::at(entry.key.place))?;
        }
        Ok(map)
    }

    fn parse(text: &str) -> Result<Self, ValueError> {
        let mut map = BTreeMap::new();
        for pair in text.split(SEPARATOR).map(str::trim) {
            let Some((name, value)) = pair.split_once('=') else {
                return Err(ValueError::Pair { given: pair.to_owned() });
            };
            insert(&mut map, K::parse(name.trim())?, V::parse(value)?)?;
        }
        Ok(map)
    }

    fn show(&self) -> Value {
        self.iter().map(|(name, value)| (name.to_string(), Scalar::show(value))).collect()
    }
}

fn insert<K: Scalar + Ord, V>(
    map: &mut BTreeMap<K, V>,
    name: K,
    value: V,
) -> Result<(), ValueError> {
    if map.contains_key(&name) {
        return Err(ValueError::Twice { name: name.to_string() });
    }
    map.insert(name, value);
    Ok(())
}

impl Scalar for Bytes {
    const KIND: Kind = Kind::Size;
}

impl Scalar for TimeSpan {
    const KIND: Kind = Kind::Time;
}

impl Scalar for Cores {
    const KIND: Kind = Kind::Cores;

    fn show(&self) -> Value {
        f64::from(*self).into()
    }
}

/// A number of things, at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count(NonZeroU32);

impl Count {
    /// The number.
    pub fn get(self) -> u32 {
        self.0.get()
    }
}

impl Display for Count {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Count {
    type Err = ValueError;

    fn from_str(given: &str) -> Result<Count, ValueError> {
        let digits = given.bytes().all(|byte| byte.is_ascii_digit());
        let number = given.parse().ok().filter(|_| digits);
        number.map(Count).ok_or_else(|| ValueError::Count { given: given.to_owned() })
    }
}

impl Scalar for Count {
    const KIND: Kind = Kind::Count;

    fn show(&self) -> Value {
        self.get().into()
    }
}
