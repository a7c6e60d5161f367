//! Turns one TypeScript file into one JavaScript file that Node 20 and newer can run.
//!
//! The binary is carried into a box, so that TypeScript runs there with nothing to install.
//! Types are removed, not checked: a program with a type error still runs.
//!
//! # What is translated
//!
//! Type annotations, interfaces, type aliases, `import type`, `satisfies`, `as`, `!`, generics,
//! overloads, abstract classes, `declare`, enums and const enums, namespaces, parameter
//! properties, `import x = require()`, `export =`, legacy decorators
//! (`experimentalDecorators`), and `using` / `await using`. Everything else that is ES2022 is
//! left as written, since Node 20 knows it.
//!
//! # What is refused, with a message that says so
//!
//! JSX and `.tsx`, `.d.ts` files, standard (TC39) decorators when they are recognisable by their
//! `…DecoratorContext` types, `accessor` fields, and namespaces that export a `let` or `var`.
//!
//! # What differs from `tsc`
//!
//! Decorators of static members run in source order, not after those of instance members, and
//! no decorator metadata is emitted. A decorator is always taken for a legacy one unless it is
//! refused as above. Only one file is translated: an import of another `.ts` file is left as is.
//!
//! # Example
//!
//! ```
//! let output = fumehood_typescript::strip("main.ts", "const n: number = 1;")?;
//! assert!(output.javascript.starts_with("const n = 1;"));
//! # Ok::<(), Vec<fumehood_typescript::Diagnostic>>(())
//! ```

mod diagnostic;
mod emit;
mod evidence;
mod files;
mod limits;
mod parse;
mod strip;
mod unsupported;

pub use diagnostic::{Diagnostic, Position};
pub use emit::{ModuleSystem, Output};
pub use files::{FileError, read_source, write_output};
pub use limits::{MAX_SOURCE_BYTES, MAX_TOKENS};
pub use strip::strip;
