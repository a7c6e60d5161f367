//! Finds syntax that oxc would pass through unchanged, or translate to something else than meant.
//!
//! Without this check Node would fail with a message about JavaScript that the user never wrote.

use oxc_ast::ast::{AccessorProperty, Decorator, Program, TSTypeName, TSTypeReference};
use oxc_ast_visit::{Visit, walk};
use oxc_diagnostics::{Diagnostics, OxcDiagnostic};
use oxc_span::Span;

/// Types that only a standard decorator mentions; a legacy one has no context argument.
const STANDARD_DECORATOR_TYPES: [&str; 8] = [
    "ClassAccessorDecoratorContext",
    "ClassDecoratorContext",
    "ClassFieldDecoratorContext",
    "ClassGetterDecoratorContext",
    "ClassMemberDecoratorContext",
    "ClassMethodDecoratorContext",
    "ClassSetterDecoratorContext",
    "DecoratorContext",
];

/// Reports every use of syntax that cannot be translated faithfully.
pub fn find(program: &Program<'_>) -> Diagnostics {
    let mut finder = Finder::default();
    finder.visit_program(program);
    let mut found = finder.found;
    if let (Some(context), true) = (finder.standard_context, finder.has_decorator) {
        found.push(
            OxcDiagnostic::error("Standard (TC39) decorators are not supported")
                .with_help("Write a legacy decorator: (target, key, descriptor) => …")
                .with_label(context),
        );
    }
    found
}

#[derive(Default)]
struct Finder {
    found: Diagnostics,
    has_decorator: bool,
    standard_context: Option<Span>,
}

impl<'a> Visit<'a> for Finder {
    fn visit_accessor_property(&mut self, property: &AccessorProperty<'a>) {
        self.found.push(
            OxcDiagnostic::error("`accessor` fields are not supported")
                .with_help("Write a private field with a getter and a setter")
                .with_label(property.span),
        );
        walk::walk_accessor_property(self, property);
    }

    fn visit_decorator(&mut self, decorator: &Decorator<'a>) {
        self.has_decorator = true;
        walk::walk_decorator(self, decorator);
    }

    fn visit_ts_type_reference(&mut self, reference: &TSTypeReference<'a>) {
        if let TSTypeName::IdentifierReference(name) = &reference.type_name
            && STANDARD_DECORATOR_TYPES.contains(&name.name.as_str())
        {
            self.standard_context.get_or_insert(name.span);
        }
        walk::walk_ts_type_reference(self, reference);
    }
}
