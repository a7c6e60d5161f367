//! Reads the source into a syntax tree and decides which module system it is written for.

use oxc_allocator::Allocator;
use oxc_ast::ast::Program;
use oxc_parser::{Parser, ParserReturn};
use oxc_span::SourceType;

use crate::{diagnostic::Diagnostic, emit::ModuleSystem, evidence};

const ESM: SourceType = SourceType::ts().with_module(true);
const COMMON_JS: SourceType = SourceType::ts().with_commonjs(true);

/// What the ending of a file name says about its content.
enum Kind {
    /// `.ts` and anything unknown: the content decides.
    Either,
    /// `.mts`: always an ES module.
    Esm,
    /// `.cts`: always CommonJS.
    CommonJs,
}

impl Kind {
    fn of(name: &str) -> Result<Self, Diagnostic> {
        let name_lower = name.to_ascii_lowercase();
        let ends = |ending: &str| name_lower.ends_with(ending);
        if ends(".tsx") || ends(".jsx") {
            let message = "JSX is not supported; write the file without JSX and name it .ts";
            return Err(Diagnostic::whole_file(name, message));
        }
        if ends(".d.ts") || ends(".d.mts") || ends(".d.cts") {
            let message = "a declaration file holds types only, so there is nothing to run";
            return Err(Diagnostic::whole_file(name, message));
        }
        Ok(match () {
            () if ends(".mts") => Self::Esm,
            () if ends(".cts") => Self::CommonJs,
            () => Self::Either,
        })
    }
}

/// Parses `source`; a tree that is returned has no syntax error the parser can see.
pub fn parse<'a>(
    allocator: &'a Allocator,
    name: &str,
    source: &'a str,
) -> Result<(Program<'a>, ModuleSystem), Vec<Diagnostic>> {
    let read = |source_type| Parser::new(allocator, source, source_type).parse();
    let parsed = match Kind::of(name).map_err(|refusal| vec![refusal])? {
        Kind::Esm => read(ESM),
        Kind::CommonJs => read(COMMON_JS),
        Kind::Either => {
            let first = read(SourceType::ts());
            if first.program.source_type.is_module() {
                if evidence::only_export_assignment(&first.program) {
                    read(COMMON_JS)
                } else {
                    first
                }
            } else if !first.diagnostics.is_empty() || evidence::has_await_using(&first.program) {
                // An `await` outside a function is an error in a script and the mark of a module.
                better(first, read(ESM))
            } else {
                read(COMMON_JS)
            }
        }
    };
    if parsed.panicked || !parsed.diagnostics.is_empty() {
        return Err(Diagnostic::from_oxc(name, source, parsed.diagnostics));
    }
    let is_module = parsed.program.source_type.is_module();
    let system = if is_module { ModuleSystem::Esm } else { ModuleSystem::CommonJs };
    Ok((parsed.program, system))
}

/// The reading with fewer errors, so that a module is not blamed for its `await`.
fn better<'a>(script: ParserReturn<'a>, module: ParserReturn<'a>) -> ParserReturn<'a> {
    let badness = |read: &ParserReturn<'_>| (read.panicked, read.diagnostics.len());
    let is_clean = script.diagnostics.is_empty();
    if badness(&module) < badness(&script) || is_clean { module } else { script }
}
