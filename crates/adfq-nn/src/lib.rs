//! Neural networks as flat buffers: a specification, forward and backward passes, Adam. No agent, no environment.
