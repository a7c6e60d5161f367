//! Tests that look at several parts of the policy at once.
