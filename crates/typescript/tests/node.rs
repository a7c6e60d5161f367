//! What the JavaScript does, run by the machine's Node.

mod common;

use common::{SAMPLE, printed, run};

#[test]
fn the_sample_does_what_it_says() {
    let expected = "5 Blue text 5\n12 1\n18 square secret 3\n1 true none 3 2\ntwice:8 decorated\n\
                    b.ts true true\nopen\nclosed\n";
    assert_eq!(printed(SAMPLE), expected);
}

#[test]
fn commonjs_can_require() {
    let source = "import path = require('path'); const fs = require('fs');\n\
                  console.log(path.sep as string, typeof fs.readFileSync, require.main === module);";
    assert_eq!(printed(source), "/ function true\n");
}

#[test]
fn windows_line_ends_and_byte_order_mark_are_no_obstacle() {
    assert_eq!(printed("\u{feff}let a: number = 1;\r\nconsole.log(a);\r\n"), "1\n");
}

#[test]
fn an_enum_can_be_declared_in_parts_and_computed() {
    let source = "enum E { A = 1 } enum E { B = 'xyz'.length, C = A + 1, D = `t${C}` as any }\n\
                  console.log(E.A, E.B, E.C, E[3]);";
    assert_eq!(printed(source), "1 3 2 B\n");
}

// Static members stand last here: oxc takes members in source order, tsc takes static ones last.
#[test]
fn decorators_run_in_the_order_typescript_defines() {
    let source = "
        const d = (s: string) => (...a: any[]) => { console.log(s, typeof a[2]); };
        @d('class 1') @d('class 2') class A {
            @d('field') f = 1;
            @d('getter') get g() { return 1; }
            @d('method') m(@d('parameter') a: number) {}
            @d('static') static s() {}
            constructor(@d('constructor') b: string) {}
        }
        console.log(new A('').f);";
    let expected = "field undefined\ngetter object\nparameter number\nmethod object\n\
                    static object\nconstructor number\nclass 2 undefined\nclass 1 undefined\n1\n";
    assert_eq!(printed(source), expected);
}

#[test]
fn a_class_decorator_can_replace_the_class() {
    let source = "function swap(c: any): any { return class extends c { extra = 1 }; }\n\
                  @swap class A {} console.log((new A() as any).extra);";
    assert_eq!(printed(source), "1\n");
}

#[test]
fn using_disposes_in_reverse_and_keeps_every_error() {
    let source = "
        const make = (n: string, fails = false) => ({ [Symbol.dispose]() {
            console.log('close', n); if (fails) throw new Error(n); } });
        try {
            using a = make('a', true); using none = null; using b = make('b');
            throw new Error('body');
        } catch (e: any) { console.log(e.name, e.error.message, e.suppressed.message); }
        try { using bad = {} as any; } catch (e: any) { console.log(e.name); }";
    let expected = "close b\nclose a\nSuppressedError a body\nTypeError\n";
    assert_eq!(printed(source), expected);
}

#[test]
fn await_using_waits() {
    let source = "
        const make = (n: string) => ({ async [Symbol.asyncDispose]() {
            await null; console.log('close', n); } });
        async function f() {
            await using a = make('a'); await using s = { [Symbol.dispose]() { console.log('sync'); } };
            await using b = make('b'); console.log('body');
        }
        f().then(() => console.log('done'));";
    assert_eq!(printed(source), "body\nclose b\nsync\nclose a\ndone\n");
}

#[test]
fn strict_mode_is_kept_when_helpers_stand_before_it() {
    let source = "'use strict'; function d(c: Function) {} @d class A {}\n\
                  console.log((function (this: any) { return this === undefined; })());";
    assert_eq!(printed(source), "true\n");
}

#[track_caller]
fn trace_names(source: &str, place: &str) {
    let result = run("/box/main.ts", source);
    let trace = String::from_utf8_lossy(&result.stderr);
    assert!(!result.status.success());
    assert!(trace.contains(place), "{trace}");
}

#[test]
fn a_stack_trace_names_the_line_of_the_source() {
    trace_names(
        "interface A {\n  b: string;\n}\nfunction f(): never {\n  throw new Error('x');\n}\nf();\n",
        "at f (/box/main.ts:5:9)",
    );
}

#[test]
fn a_stack_trace_is_right_below_the_helpers() {
    trace_names(
        "declare const x: string;\nfunction d(c: Function) {}\n@d class A {}\n\
         function f(): never {\n  throw new Error('x');\n}\nf();\n",
        "at f (/box/main.ts:5:9)",
    );
}
