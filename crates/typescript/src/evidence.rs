//! Evidence for a module system that the parser does not weigh by itself.

use oxc_ast::ast::{
    ArrowFunctionExpression, Class, Function, Program, Statement, VariableDeclaration,
};
use oxc_ast_visit::{Visit, walk};
use oxc_semantic::ScopeFlags;

/// Whether `export =`, which means `module.exports =`, is all that looks like an ES module.
pub fn only_export_assignment(program: &Program<'_>) -> bool {
    let modules = || program.body.iter().filter(|statement| statement.is_module_declaration());
    let is_assignment = |s: &Statement<'_>| matches!(s, Statement::TSExportAssignment(_));
    modules().next().is_some() && modules().all(is_assignment)
}

/// Whether an `await using` stands outside all functions, which only an ES module allows.
pub fn has_await_using(program: &Program<'_>) -> bool {
    let mut finder = AwaitUsing { found: false };
    finder.visit_program(program);
    finder.found
}

struct AwaitUsing {
    found: bool,
}

impl<'a> Visit<'a> for AwaitUsing {
    fn visit_variable_declaration(&mut self, declaration: &VariableDeclaration<'a>) {
        self.found |= declaration.kind.is_await();
        walk::walk_variable_declaration(self, declaration);
    }

    // What follows has its own rules for `await`, so the search ends there.

    fn visit_function(&mut self, _: &Function<'a>, _: ScopeFlags) {}

    fn visit_arrow_function_expression(&mut self, _: &ArrowFunctionExpression<'a>) {}

    fn visit_class(&mut self, _: &Class<'a>) {}
}
