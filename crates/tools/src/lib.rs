//! What a server says of itself to a model, and what is held of it: the surface, its fingerprint, the lock and the review.
