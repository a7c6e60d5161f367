//! Every event as a JSON object on a line of its own, as it happens. The last one is `finished`.

use fumehood::Event;

use super::json;
use crate::failure::Failure;

/// Writes one event.
pub async fn event(event: &Event) -> Result<(), Failure> {
    json::write_line(serde_json::to_vec(event)).await
}
