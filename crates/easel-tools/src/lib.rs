//! One door to tools that touch the world.
