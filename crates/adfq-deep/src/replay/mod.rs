//! What was lived through, to learn from again.
