//! Everything a face needs: what a caller may see, and the one way to have something done.
