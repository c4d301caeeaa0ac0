//! Experiments as data, statistics, plots and the report. Learning itself lives in `adfq`.
