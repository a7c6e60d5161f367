//! The options that bound a box. What a value may be is said by the types of the library.

use std::str::FromStr;

use clap::Args;
use fumehood::{Bytes, Cores, LimitError, LimitOverrides, TimeSpan};

/// Limits that differ from the defaults.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Limits")]
pub struct LimitArgs {
    /// Wall time; then it is ended. [default: 5m]
    #[arg(long, value_name = "TIME", value_parser = limit::<TimeSpan>, allow_hyphen_values = true)]
    timeout: Option<TimeSpan>,
    /// Time between the polite signal and the final one. [default: 500ms]
    #[arg(long, value_name = "TIME", value_parser = limit::<TimeSpan>, allow_hyphen_values = true)]
    grace: Option<TimeSpan>,
    /// Memory of all processes together. [default: 512m]
    #[arg(long, value_name = "SIZE", value_parser = limit::<Bytes>, allow_hyphen_values = true)]
    memory: Option<Bytes>,
    /// Processor cores, also parts of one. [default: 1]
    #[arg(long, value_name = "CORES", value_parser = limit::<Cores>, allow_hyphen_values = true)]
    cpus: Option<Cores>,
    /// Processes and threads alive at once. [default: 100]
    #[arg(long, value_name = "COUNT", value_parser = limit::<Count>, allow_hyphen_values = true)]
    pids: Option<Count>,
    /// Writable space besides the workspace. [default: 1g]
    #[arg(long, value_name = "SIZE", value_parser = limit::<Bytes>, allow_hyphen_values = true)]
    disk: Option<Bytes>,
    /// Standard output and error together. [default: 16m]
    #[arg(long, value_name = "SIZE", value_parser = limit::<Bytes>, allow_hyphen_values = true)]
    output_limit: Option<Bytes>,
    /// Open files of one process. [default: 1024]
    #[arg(long, value_name = "COUNT", value_parser = limit::<Count>, allow_hyphen_values = true)]
    open_files: Option<Count>,
    /// Size of one file. [default: 1g]
    #[arg(long, value_name = "SIZE", value_parser = limit::<Bytes>, allow_hyphen_values = true)]
    file_size: Option<Bytes>,
}

impl LimitArgs {
    /// The same as the library takes them.
    pub fn overrides(&self) -> LimitOverrides {
        LimitOverrides {
            memory: self.memory,
            cpus: self.cpus,
            pids: self.pids.map(|count| count.0),
            timeout: self.timeout,
            grace: self.grace,
            output: self.output_limit,
            disk: self.disk,
            open_files: self.open_files.map(|count| count.0),
            file_size: self.file_size,
        }
    }
}

/// Why the text after an option is not a limit.
#[derive(Debug, thiserror::Error)]
enum ValueError<E: std::error::Error> {
    /// Hyphens are let through for the sake of a good answer to `-1s`, so this must be caught.
    #[error("a value is missing before `{next}`: see --help for what can be written there")]
    Missing { next: String },
    #[error(transparent)]
    Limit(#[from] E),
}

fn limit<T>(given: &str) -> Result<T, ValueError<T::Err>>
where
    T: FromStr<Err: std::error::Error>,
{
    if given.starts_with("--") {
        return Err(ValueError::Missing { next: given.to_owned() });
    }
    Ok(given.parse()?)
}

/// A number of things, at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Count(u32);

impl FromStr for Count {
    type Err = LimitError;

    fn from_str(given: &str) -> Result<Count, LimitError> {
        const WHAT: &str = "a count";
        const EXAMPLE: &str = "100";
        let text = given.trim();
        let given = || given.to_owned();
        match text.parse::<u64>() {
            Ok(0) => Err(LimitError::TooSmall { given: given(), what: "count", least: "1" }),
            // The kernel's own bounds: no more processes (2^22) or descriptors (2^20) than that.
            Ok(count) => u32::try_from(count)
                .ok()
                .filter(|count| *count <= 1 << 22)
                .map(Count)
                .ok_or(LimitError::TooLarge { given: given(), what: "count", most: "4194304" }),
            Err(_) if text.is_empty() => Err(LimitError::Empty { what: WHAT, example: EXAMPLE }),
            Err(_) if text.starts_with('-') => {
                Err(LimitError::Negative { given: given(), what: WHAT, example: EXAMPLE })
            }
            Err(_) => Err(LimitError::NotANumber { given: given(), what: WHAT, example: EXAMPLE }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_whole_and_bounded() {
        assert_eq!("100".parse(), Ok(Count(100)));
        for (text, message) in [
            ("", "a count is empty: write for example 100"),
            ("0", "`0` is too small: the least count is 1"),
            ("-3", "`-3` is negative, and a count cannot be: write for example 100"),
            ("99999999999", "`99999999999` is too large: the most count is 4194304"),
            (
                "many",
                "`many` is not a count: it does not start with a number; write for example 100",
            ),
        ] {
            assert_eq!(text.parse::<Count>().unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn the_help_names_the_defaults() {
        #[derive(clap::Parser)]
        struct Line {
            #[command(flatten)]
            limits: LimitArgs,
        }
        let command = <Line as clap::CommandFactory>::command();
        let shown = |option: &str| {
            let argument = command.get_arguments().find(|each| each.get_id() == option).unwrap();
            let help = argument.get_help().unwrap().to_string();
            help.split_once("[default: ").unwrap().1.trim_end_matches(']').to_owned()
        };
        let limits = fumehood::Limits::default();
        assert_eq!(shown("timeout").parse(), Ok(limits.timeout));
        assert_eq!(shown("grace").parse(), Ok(limits.grace));
        assert_eq!(shown("memory").parse(), Ok(limits.memory));
        assert_eq!(shown("cpus").parse(), Ok(limits.cpus));
        assert_eq!(shown("pids").parse(), Ok(limits.pids));
        assert_eq!(shown("disk").parse(), Ok(limits.disk));
        assert_eq!(shown("output_limit").parse(), Ok(limits.output));
        assert_eq!(shown("open_files").parse(), Ok(limits.open_files));
        assert_eq!(shown("file_size").parse(), Ok(limits.file_size));
    }

    #[test]
    fn an_option_in_place_of_a_value_is_noticed() {
        assert_eq!(
            limit::<Bytes>("--cpus").unwrap_err().to_string(),
            "a value is missing before `--cpus`: see --help for what can be written there"
        );
        assert!(limit::<Bytes>("-1m").unwrap_err().to_string().contains("negative"));
    }
}
