//! The service's addresses, and what is refused before anything else is looked at.
