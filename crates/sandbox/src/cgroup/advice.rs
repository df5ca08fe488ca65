//! From what was tried to what a person reads.

use model::layer::{Layer, LayerName, LayerState};

use super::obstacle::Obstacle;

/// A ceiling as it came out.
pub(super) fn layer(name: LayerName, held: Result<String, Obstacle>) -> Layer {
    match held {
        Ok(detail) => enforced(name, detail),
        Err(obstacle) => missing(name, &obstacle),
    }
}

pub(super) fn enforced(name: LayerName, detail: String) -> Layer {
    Layer { name, state: LayerState::Enforced, detail, remedy: String::new() }
}

pub(super) fn missing(name: LayerName, obstacle: &Obstacle) -> Layer {
    Layer { name, state: LayerState::Missing, detail: obstacle.to_string(), remedy: obstacle.hint() }
}
