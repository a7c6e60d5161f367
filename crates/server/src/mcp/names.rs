//! The names of the tools, in two spellings: `sandboxed_code.run`, and `sandboxed_code_run` for
//! clients whose models take no dots.

/// How the names of tools are spelt in the list. Calls may use either.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ToolNames {
    /// `sandboxed_code.run`
    #[default]
    Dots,
    /// `sandboxed_code_run`
    Underscores,
}

/// The tools there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ToolName {
    CodeRun,
    ShellRun,
    FilesRead,
    FilesWrite,
    FilesList,
    PolicyExplain,
}

impl ToolName {
    pub(super) const ALL: [ToolName; 6] = [
        ToolName::CodeRun,
        ToolName::ShellRun,
        ToolName::FilesRead,
        ToolName::FilesWrite,
        ToolName::FilesList,
        ToolName::PolicyExplain,
    ];

    fn dotted(self) -> &'static str {
        match self {
            ToolName::CodeRun => "sandboxed_code.run",
            ToolName::ShellRun => "sandboxed_shell.run",
            ToolName::FilesRead => "sandboxed_files.read",
            ToolName::FilesWrite => "sandboxed_files.write",
            ToolName::FilesList => "sandboxed_files.list",
            ToolName::PolicyExplain => "sandbox_policy.explain",
        }
    }

    pub(super) fn spelt(self, names: ToolNames) -> String {
        match names {
            ToolNames::Dots => self.dotted().to_owned(),
            ToolNames::Underscores => self.dotted().replace('.', "_"),
        }
    }

    pub(super) fn find(name: &str) -> Option<ToolName> {
        let underscored = |tool: &ToolName| tool.spelt(ToolNames::Underscores) == name;
        ToolName::ALL.into_iter().find(|tool| tool.dotted() == name || underscored(tool))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings_are_understood() {
        for tool in ToolName::ALL {
            assert_eq!(ToolName::find(&tool.spelt(ToolNames::Dots)), Some(tool));
            let plain = tool.spelt(ToolNames::Underscores);
            assert!(plain.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'), "{plain}");
            assert_eq!(ToolName::find(&plain), Some(tool));
        }
        assert_eq!(ToolName::find("sandboxed.code.run"), None);
    }
}
