//! Numbers that must not change: digests of what tabular agents learn, of the paper's trials and of the study's. If one
//! of them differs, every recorded result differs. A change that is meant replaces the digest and says why.

mod common;

use common::{adfq_in, printed};

/// FNV-1a, 64 bits.
fn digest(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

/// What `learn --json` prints, up to the fields about visits and the curve, which came later: these bytes are the oldest
/// record of what agents learn.
fn learned(arguments: &[&str]) -> String {
    let text = printed(arguments);
    let (first, _) = text.split_once(",\n  \"pair_visits\":").unwrap();
    format!("{first}\n}}\n")
}

#[test]
fn what_agents_learn() {
    for (domain, agent, expected) in [
        ("chain", "split", 0xb8a573e3b8522c69),
        ("chain", "adfq", 0x2e713a813d663631),
        ("chain", "q-learning", 0xae98f4ae8e7bce92),
        ("chain", "ktd-q", 0xf47693615ea7117c),
        ("chain", "bayesian-q", 0xcfa69ee689e1954e),
        ("minimaze", "split", 0x7cb5b7b9520cd4c5),
        ("minimaze", "adfq", 0x06ada37b3cc3feab),
        ("minimaze", "q-learning", 0x1052e37bac221a2a),
        ("minimaze", "bayesian-q", 0x47d43aa1e5ca8151),
    ] {
        let run = ["learn", domain, "--agent", agent, "--steps", "1000", "--seed", "3", "--json"];
        assert_eq!(digest(learned(&run).as_bytes()), expected, "{domain} {agent}");
    }
    let replay =
        ["learn", "loop-stochastic", "--rule", "exact", "--noise", "exact", "--replay", "--steps", "1000"];
    assert_eq!(digest(learned(&[&replay[..], &["--json"]].concat()).as_bytes()), 0x3b9b047a25bdcebd);
}

/// Runs an experiment in a folder of its own and compares its tables.
fn check(arguments: &[&str], tables: &[(&str, u64)]) {
    let folder = tempfile::tempdir().unwrap();
    let outcome = adfq_in(folder.path(), &[arguments, &["--quick", "--out", "report"]].concat());
    assert!(outcome.success, "{}", outcome.stderr);
    for (table, expected) in tables {
        let bytes = std::fs::read(folder.path().join(format!("report/data/{table}.csv"))).unwrap();
        assert_eq!(digest(&bytes), *expected, "{table}");
    }
}

#[test]
fn trials_of_the_paper() {
    check(
        &["paper", "--trials", "2", "--only", "simple10,chain"],
        &[("rmse", 0x7b6ec89dd1bca910), ("two_phase", 0xaeb682cfc03f9dba)],
    );
}

#[test]
fn trials_of_the_study() {
    let agents = "adfq,q-learning,bayesian-q,split,stream";
    check(
        &["study", "calibration", "--domains", "deepsea-8", "--agents", agents],
        &[
            ("walk_curves", 0xed439e5fc9f5210e),
            ("online_curves", 0x63ca4e625cdb5af0),
            ("deepsea", 0x8e889b826f25422c),
            ("tuning", 0x7b907f261a7327b5),
            ("targets", 0xa2c11dc69ac74d12),
        ],
    );
}
