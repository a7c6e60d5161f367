//! The way from source to output: parse, check, transform, print.

use std::path::Path;

use oxc_allocator::Allocator;
use oxc_semantic::SemanticBuilder;
use oxc_transformer::{
    DecoratorOptions, ES2026Options, EnvOptions, HelperLoaderMode, HelperLoaderOptions, Module,
    TransformOptions, Transformer,
};

use crate::{
    diagnostic::Diagnostic,
    emit::{self, ModuleSystem, Output},
    limits, parse, unsupported,
};

/// The object that translated code expects the helper functions in.
const HELPERS_NAME: &str = "babelHelpers";

/// Translates the TypeScript `source`, called `name` in errors and in the source map.
///
/// The ending of `name` matters: `.mts` is an ES module and `.cts` is CommonJS; otherwise the
/// content decides. Types are removed without being checked.
///
/// # Errors
///
/// One [`Diagnostic`] per syntax error, or one that says why the file as a whole is refused.
/// The list is never empty.
pub fn strip(name: &str, source: &str) -> Result<Output, Vec<Diagnostic>> {
    let stack = limits::stack_for(name, source).map_err(|refusal| vec![refusal])?;
    limits::with_stack(name, stack, || translate(name, source))
}

fn translate(name: &str, source: &str) -> Result<Output, Vec<Diagnostic>> {
    let fail = |errors| Err(Diagnostic::from_oxc(name, source, errors));
    let allocator = Allocator::default();
    let (mut program, module_system) = parse::parse(&allocator, name, source)?;

    let checked =
        SemanticBuilder::new().with_check_syntax_error(true).with_enum_eval(true).build(&program);
    if !checked.diagnostics.is_empty() {
        return fail(checked.diagnostics);
    }
    let scoping = checked.semantic.into_scoping();

    let refused = unsupported::find(&program);
    if !refused.is_empty() {
        return fail(refused);
    }

    let options = transform_options(module_system);
    let transformed = Transformer::new(&allocator, Path::new(name), &options)
        .build_with_scoping(scoping, &mut program);
    // What oxc calls a warning here means that the output would not do what the source says.
    if !transformed.diagnostics.is_empty() {
        return fail(transformed.diagnostics);
    }
    let needs_helpers = transformed
        .scoping
        .root_unresolved_references()
        .keys()
        .any(|reference| reference.as_str() == HELPERS_NAME);

    Ok(emit::emit(&mut program, name, module_system, needs_helpers))
}

/// Node 20 runs ES2022 as it is, so `using` is the only JavaScript that is translated.
fn transform_options(module_system: ModuleSystem) -> TransformOptions {
    TransformOptions {
        decorator: DecoratorOptions { legacy: true, ..DecoratorOptions::default() },
        env: EnvOptions {
            module: match module_system {
                ModuleSystem::Esm => Module::Esm,
                // Not `Module::CommonJS`: that would switch strict mode on.
                ModuleSystem::CommonJs => Module::Preserve,
            },
            es2026: ES2026Options { explicit_resource_management: true },
            ..EnvOptions::default()
        },
        helper_loader: HelperLoaderOptions {
            mode: HelperLoaderMode::External,
            ..HelperLoaderOptions::default()
        },
        ..TransformOptions::default()
    }
}
