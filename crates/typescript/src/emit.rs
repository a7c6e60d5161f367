//! Prints the translated tree as JavaScript, with the source map inside.

use std::path::PathBuf;

use oxc_ast::ast::Program;
use oxc_codegen::{Codegen, CodegenOptions, CommentOptions};
use oxc_sourcemap::ConcatSourceMapBuilder;

/// Functions that translated decorators and `using` call; oxc leaves it to others to supply them.
const HELPERS: &str = include_str!("helpers.js");

/// What a translation yields: the content of `main.js`, and what `package.json` must say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// JavaScript with an inline source map; run it with `node --enable-source-maps`.
    pub javascript: String,
    /// The module system the source is written for.
    pub module_system: ModuleSystem,
}

impl Output {
    /// The content of the `package.json` that tells Node how to load the JavaScript.
    pub fn package_json(&self) -> &'static str {
        match self.module_system {
            ModuleSystem::Esm => "{\"type\":\"module\"}\n",
            ModuleSystem::CommonJs => "{\"type\":\"commonjs\"}\n",
        }
    }
}

/// How a file refers to other files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModuleSystem {
    /// `import` and `export`, `import.meta`, or `await` outside a function.
    Esm,
    /// `require` and `module.exports`, or neither.
    CommonJs,
}

/// Prints `program`, which was read from the source called `name`.
pub fn emit(
    program: &mut Program<'_>,
    name: &str,
    module_system: ModuleSystem,
    needs_helpers: bool,
) -> Output {
    // The output is started as `node main.js`, and a hashbang may only stand on the first line.
    program.hashbang = None;
    let strict = program.directives.iter().any(|d| d.is_use_strict());
    let options = CodegenOptions {
        source_map_path: Some(PathBuf::from(name)),
        comments: CommentOptions::disabled(),
        // Indentation would make the output of deeply nested input grow with its square.
        indent_width: 0,
        ..CodegenOptions::default()
    };
    let printed = Codegen::new().with_options(options).build(program);

    let prelude = match (needs_helpers, strict) {
        (false, _) => String::new(),
        (true, false) => HELPERS.to_owned(),
        // A directive counts only before the first statement.
        (true, true) => format!("\"use strict\"; {HELPERS}"),
    };
    let prelude_lines = u32::try_from(prelude.lines().count()).unwrap_or(u32::MAX);
    let mut javascript = prelude + &printed.code;
    if let Some(map) = &printed.map {
        let shifted = ConcatSourceMapBuilder::from_sourcemaps(&[(map, prelude_lines)]);
        let url = shifted.into_sourcemap().to_data_url();
        if !javascript.is_empty() && !javascript.ends_with('\n') {
            javascript.push('\n');
        }
        javascript.push_str("//# sourceMappingURL=");
        javascript.push_str(&url);
        javascript.push('\n');
    }
    Output { javascript, module_system }
}
