//! fumehood as a service. Thin: every front end here parses, calls the library and renders.

#![forbid(unsafe_code)]

pub mod mcp;
pub mod rpc;
