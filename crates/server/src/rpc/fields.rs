//! The parameters of a call, taken one by one. Strict: another type is refused under the name of
//! the parameter, and so is what nobody asks for.

use std::str::FromStr;

use fumehood::{LimitError, nearest};
use serde_json::{Map, Value};

use super::{content, fault::Fault};

/// Parameters that were not taken yet.
pub(super) struct Fields {
    /// What stands before the names in messages.
    prefix: String,
    values: Map<String, Value>,
    known: Vec<&'static str>,
}

impl Fields {
    pub(super) fn of(values: Map<String, Value>) -> Fields {
        Fields { prefix: String::new(), values, known: Vec::new() }
    }

    /// The parameter as it is. `null` counts as absent.
    pub(super) fn any(&mut self, key: &'static str) -> Option<Value> {
        self.known.push(key);
        self.values.remove(key).filter(|value| !value.is_null())
    }

    pub(super) fn text(&mut self, key: &'static str) -> Result<Option<String>, Fault> {
        match self.any(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(self.wrong(key, "a text")),
        }
    }

    pub(super) fn flag(&mut self, key: &'static str) -> Result<bool, Fault> {
        match self.any(key) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(flag),
            Some(_) => Err(self.wrong(key, "true or false")),
        }
    }

    pub(super) fn texts(&mut self, key: &'static str) -> Result<Option<Vec<String>>, Fault> {
        let Some(value) = self.any(key) else { return Ok(None) };
        serde_json::from_value(value).map(Some).map_err(|_| self.wrong(key, "a list of texts"))
    }

    /// Bytes as a text or in base64.
    pub(super) fn bytes(&mut self, key: &'static str) -> Result<Option<Vec<u8>>, Fault> {
        self.any(key).map(|value| content::bytes(&self.named(key), value)).transpose()
    }

    /// A whole number from one upward.
    pub(super) fn count(&mut self, key: &'static str, most: u32) -> Result<Option<u32>, Fault> {
        let Some(value) = self.any(key) else { return Ok(None) };
        let count = value.as_u64().and_then(|count| u32::try_from(count).ok());
        match count.filter(|count| (1..=most).contains(count)) {
            Some(count) => Ok(Some(count)),
            None => Err(self.wrong(key, &format!("a whole number from 1 to {most}"))),
        }
    }

    /// A limit as the command line takes it, or as a bare number.
    pub(super) fn limit<T>(&mut self, key: &'static str) -> Result<Option<T>, Fault>
    where
        T: FromStr<Err = LimitError>,
    {
        let text = match self.any(key) {
            None => return Ok(None),
            Some(Value::String(text)) => text,
            Some(Value::Number(number)) => number.to_string(),
            Some(_) => {
                return Err(self.wrong(key, "a text such as \"30s\" or \"512m\", or a number"));
            }
        };
        text.parse().map(Some).map_err(|error| Fault::refused("limit", &error))
    }

    /// One of a few words.
    pub(super) fn word<T: Copy>(
        &mut self,
        key: &'static str,
        words: &[(&str, T)],
    ) -> Result<Option<T>, Fault> {
        let Some(value) = self.any(key) else { return Ok(None) };
        let found = words.iter().find(|(word, _)| value.as_str() == Some(word));
        match found {
            Some((_, meaning)) => Ok(Some(*meaning)),
            None => {
                let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
                Err(self.wrong(key, &format!("one of {}", words.join(", "))))
            }
        }
    }

    /// Named values whose names are the caller's.
    pub(super) fn table(&mut self, key: &'static str) -> Result<Map<String, Value>, Fault> {
        match self.any(key) {
            None => Ok(Map::new()),
            Some(Value::Object(table)) => Ok(table),
            Some(_) => Err(self.wrong(key, "an object")),
        }
    }

    /// Named texts.
    pub(super) fn named_texts(
        &mut self,
        key: &'static str,
    ) -> Result<Vec<(String, String)>, Fault> {
        let mut texts = Vec::new();
        for (name, value) in self.table(key)? {
            let Value::String(text) = value else {
                return Err(self.wrong(&format!("{key}.{name}"), "a text"));
            };
            texts.push((name, text));
        }
        Ok(texts)
    }

    /// A list of objects, each with parameters of its own.
    pub(super) fn objects(&mut self, key: &'static str) -> Result<Vec<Fields>, Fault> {
        let list = match self.any(key) {
            None => return Ok(Vec::new()),
            Some(Value::Array(list)) => list,
            Some(_) => return Err(self.wrong(key, "a list of objects")),
        };
        let part = |(index, value)| self.part(&format!("{key}[{index}]"), value);
        list.into_iter().enumerate().map(part).collect()
    }

    /// The parameters of an object in a parameter.
    pub(super) fn part(&self, key: &str, value: Value) -> Result<Fields, Fault> {
        match value {
            Value::Object(values) => {
                let prefix = format!("{}.", self.named(key));
                Ok(Fields { prefix, values, known: Vec::new() })
            }
            _ => Err(self.wrong(key, "an object")),
        }
    }

    /// What must be there.
    pub(super) fn required<T>(
        &self,
        key: &str,
        value: Option<T>,
        expected: &str,
    ) -> Result<T, Fault> {
        value.ok_or_else(|| self.wrong(key, &format!("there: {expected}")))
    }

    pub(super) fn wrong(&self, key: &str, expected: &str) -> Fault {
        Fault::Field { field: self.named(key), expected: expected.to_owned() }
    }

    fn named(&self, key: &str) -> String {
        format!("{}{key}", self.prefix)
    }

    /// Refuses what was not taken.
    pub(super) fn end(self) -> Result<(), Fault> {
        match self.values.keys().next() {
            None => Ok(()),
            Some(key) => {
                let near = nearest(key, self.known.iter().copied());
                let near = near.first().map(|near| format!("{}{near}", self.prefix));
                Err(Fault::UnknownField { field: self.named(key), near })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use fumehood::{Bytes, TimeSpan};
    use serde_json::json;

    use super::*;

    fn fields(value: Value) -> Fields {
        let Value::Object(values) = value else { panic!("an object") };
        Fields::of(values)
    }

    #[test]
    fn another_type_is_refused_under_its_name() {
        let mut given = fields(json!({"a": 1, "b": "x", "list": [{"source": 7}]}));
        assert_eq!(given.text("a").unwrap_err().to_string(), "`a` must be a text");
        assert_eq!(given.flag("b").unwrap_err().to_string(), "`b` must be true or false");
        let mut first = given.objects("list").unwrap().remove(0);
        let fault = first.text("source").unwrap_err();
        assert_eq!(fault.to_string(), "`list[0].source` must be a text");
        assert_eq!(fault.code(), -32602);
    }

    #[test]
    fn what_nobody_asks_for_is_refused_with_what_may_be_meant() {
        let mut given = fields(json!({"langauge": "python"}));
        given.text("language").unwrap();
        let fault = given.end().unwrap_err();
        assert_eq!(
            fault.to_string(),
            "there is no parameter `langauge` (did you mean `language`?)"
        );
    }

    #[test]
    fn limits_are_texts_or_numbers_in_the_words_of_the_library() {
        let mut given = fields(json!({"t": 1.5, "m": "1k", "bad": "banana"}));
        assert_eq!(given.limit("t").unwrap(), Some(TimeSpan::from_millis(1500)));
        assert_eq!(given.limit("m").unwrap(), Some(Bytes::new(1024)));
        let fault = given.limit::<Bytes>("bad").unwrap_err();
        assert_eq!(fault.code(), -32000);
        assert!(fault.to_string().starts_with("`banana` is not a size"), "{fault}");
    }
}
