//! Durable truth about what a person accepted: outside of every project, so that no repository brings it along.
