//! What becomes of each feature, read from the JavaScript; and what is refused.

mod common;

use common::{errors, javascript};
use fumehood_typescript::{ModuleSystem, strip};

#[track_caller]
fn becomes(source: &str, expected: &str) {
    assert_eq!(javascript(source).trim_end(), expected);
}

#[test]
fn types_leave_no_trace() {
    becomes("let a: number = 1 as number;", "let a = 1;");
    becomes("interface A { b: string } type C = A | null;", "");
    becomes("const a = { b: 1 } satisfies object;", "const a = { b: 1 };");
    becomes("const f = <T,>(a: T, b?: T): T => a!;", "const f = (a, b) => a;");
    becomes("declare const a: string; declare function f(): void;", "");
    becomes("function f(a: string): void; function f(a: any) {}", "function f(a) {}");
    becomes("let x = <number>y;", "let x = y;");
    becomes("f<string>(a?.b!.c ?? d);", "f(a?.b.c ?? d);");
}

#[test]
fn classes_lose_what_only_types_need() {
    becomes("abstract class A { abstract m(): void; }", "class A {}");
    becomes("class A<T> implements I { declare a: T; private b = 1; }", "class A {\nb = 1;\n}");
    becomes(
        "class A { constructor(private a: string) {} }",
        "class A {\na;\nconstructor(a) {\nthis.a = a;\n}\n}",
    );
}

#[test]
fn type_imports_are_removed_and_others_kept() {
    becomes("import type { A } from 'a'; f();", "f();\nexport {};");
    becomes(
        "import { a, type B, C } from 'a'; const c: C = a;",
        "import { a } from \"a\";\nconst c = a;",
    );
    becomes("import 'a'; export type { B } from 'b';", "import \"a\";");
}

#[test]
fn require_and_export_assignment_stay_commonjs() {
    let source = "import fs = require('fs'); export = fs.read;";
    becomes(source, "const fs = require(\"fs\");\nmodule.exports = fs.read;");
    assert_eq!(system("main.ts", source), ModuleSystem::CommonJs);
}

fn system(name: &str, source: &str) -> ModuleSystem {
    strip(name, source).unwrap_or_else(|errors| panic!("{errors:#?}")).module_system
}

#[test]
fn esm_syntax_is_recognised() {
    for source in [
        "import 'a';",
        "import a from 'a'; a();",
        "import type { A } from 'a';",
        "export const a = 1;",
        "export {};",
        "export default 1;",
        "console.log(import.meta.url);",
        "await f();",
        "for await (const a of b) f(a);",
        "const a: number = await f();",
        "await using a = f();",
        "{ await using a = f(); }",
        "for (await using a of b) f(a);",
    ] {
        assert_eq!(system("main.ts", source), ModuleSystem::Esm, "{source}");
    }
}

#[test]
fn other_sources_are_commonjs() {
    for source in [
        "",
        "const a = require('a');",
        "async function f() { await 1; }",
        "import('a').then(f);",
        "exports.a = 1;",
        "export = 1;",
        "using a = f();",
        "async function f() { await using a = g(); }",
        "const s = 'import x from y';",
    ] {
        assert_eq!(system("main.ts", source), ModuleSystem::CommonJs, "{source}");
    }
}

#[test]
fn the_name_can_decide_the_module_system() {
    assert_eq!(system("a.mts", "f();"), ModuleSystem::Esm);
    assert_eq!(system("a.cts", "f();"), ModuleSystem::CommonJs);
    assert_eq!(strip("a.mts", "").expect("valid").package_json(), "{\"type\":\"module\"}\n");
    assert_eq!(strip("a.cts", "").expect("valid").package_json(), "{\"type\":\"commonjs\"}\n");
}

#[test]
fn helpers_come_only_when_needed() {
    assert!(!javascript("const s = 'babelHelpers.decorate';").contains("usingCtx"));
    assert!(javascript("@d class A {}").contains("decorateParam"));
    assert!(javascript("'use strict'; @d class A {}").starts_with("\"use strict\"; const"));
}

#[test]
fn syntax_errors_show_the_place() {
    let shown = errors("src/a.ts", "let a = 1;\n\tlet b: = 2;\n");
    assert_eq!(shown.len(), 1);
    let expected = "src/a.ts:2:9: error: Unexpected token\n    \tlet b: = 2;\n    \t       ^";
    assert_eq!(shown[0], expected);
}

#[test]
fn each_error_is_reported() {
    let shown = errors("a.ts", "let a; let a;\nlet b; let b;\nbreak;");
    assert_eq!(shown.len(), 3, "{shown:#?}");
    assert!(shown.iter().any(|error| error.starts_with("a.ts:3:1: error: ")), "{shown:#?}");
}

#[test]
fn an_error_beside_top_level_await_is_the_only_one_shown() {
    let shown = errors("a.ts", "await f();\nlet a; let a;\nawait g();");
    assert_eq!(shown.len(), 1, "{shown:#?}");
    assert!(shown[0].starts_with("a.ts:2:5: error: "), "{shown:#?}");
}

#[test]
fn what_cannot_be_translated_is_refused() {
    for (name, source, reason) in [
        ("a.tsx", "", "a.tsx: error: JSX is not supported"),
        ("a.d.ts", "", "a.d.ts: error: a declaration file holds types only"),
        ("a.ts", "class A { accessor b = 1 }", "a.ts:1:11: error: `accessor` fields"),
        ("a.ts", "namespace A { export let b = 1 }", "error: Namespaces exporting non-const"),
        ("a.ts", "import a = require('a'); a(); export {};", "error: Import assignment"),
        (
            "a.ts",
            "function d(m: any, c: ClassMethodDecoratorContext) {}\nclass A { @d m() {} }",
            "a.ts:1:23: error: Standard (TC39) decorators are not supported",
        ),
    ] {
        let shown = errors(name, source).join("\n");
        assert!(shown.contains(reason), "{shown}");
    }
}

#[test]
fn jsx_in_a_ts_file_is_an_error() {
    assert!(!errors("a.ts", "const a = <div>text</div>;").is_empty());
}
