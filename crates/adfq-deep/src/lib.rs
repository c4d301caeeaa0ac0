//! Deep ADFQ, DQN and Double DQN: replay → target → learner → trainer, and checkpoints.

pub mod replay;
