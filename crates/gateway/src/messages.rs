//! The Messages API: tools for a request, results for what a model asked for.
