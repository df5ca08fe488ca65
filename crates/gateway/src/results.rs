//! What a server answers, made safe to read.
