//! Files that were cut, changed, forged, or never ours.

use super::header::{LONGEST, MAGIC};
use super::*;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::fs;
use tempfile::tempdir;

type Sections = Vec<(String, Vec<u8>)>;

fn container(sections: &Sections) -> Container<'_> {
    let mut container = Container::new("checkpoint", 3);
    for (name, bytes) in sections {
        container.put(name, &bytes[..]);
    }
    container
}

fn encode(container: &Container) -> Vec<u8> {
    let dir = tempdir().unwrap();
    let path = dir.path().join("file");
    container.write(&path).unwrap();
    fs::read(path).unwrap()
}

fn decode(bytes: &[u8]) -> Result<Sections> {
    let read = Container::read_from(bytes, bytes.len() as u64, Path::new("a.checkpoint"), "checkpoint", 3)?;
    Ok(read.sections.into_iter().map(|(name, bytes)| (name, bytes.into_owned())).collect())
}

/// Two sections that hold something and one that does not.
fn sample() -> Sections {
    vec![("numbers".into(), (0..40).collect()), ("empty".into(), vec![]), ("σ".into(), b"text".to_vec())]
}

fn sample_file() -> Vec<u8> {
    encode(&container(&sample()))
}

/// The sample with another header, whose checksum is right.
fn forged(change: impl FnOnce(&mut Header)) -> Vec<u8> {
    let sections = sample();
    let mut header = container(&sections).header();
    change(&mut header);
    let mut bytes = header.encode().unwrap();
    sections.iter().for_each(|(_, section)| bytes.extend(section));
    bytes
}

#[test]
fn reads_what_was_written_through_a_file() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("sub/a.checkpoint");
    let sections = sample();
    container(&sections).write(&path).unwrap();
    let mut read = Container::read(&path, "checkpoint", 3).unwrap();
    assert_eq!(read.names().collect::<Vec<_>>(), ["numbers", "empty", "σ"]);
    for (name, bytes) in &sections {
        assert_eq!(read.get(name).unwrap(), bytes);
    }
    assert_eq!(read.take("σ").unwrap(), b"text");
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
}

#[test]
fn the_layout_is_the_documented_one() {
    let bytes = encode(Container::new("k", 3).put("s", &b"ab"[..]));
    let program = env!("CARGO_PKG_VERSION");
    let mut expected = MAGIC.to_vec();
    expected.extend((34 + program.len() as u32).to_le_bytes());
    expected.extend(b"\x01\0\0\0k\x03\0\0\0");
    expected.extend((program.len() as u32).to_le_bytes());
    expected.extend(program.as_bytes());
    expected.extend(b"\x01\0\0\0\x01\0\0\0s\x02\0\0\0\0\0\0\0");
    expected.extend(0x9e83_486d_u32.to_le_bytes()); // CRC-32 of "ab", from zlib.
    expected.extend(crc32fast::hash(&expected).to_le_bytes());
    expected.extend(b"ab");
    assert_eq!(bytes, expected);
}

#[test]
fn a_name_put_twice_is_there_once() {
    let mut container = Container::new("checkpoint", 3);
    container.put("a", vec![1]).put("b", vec![2]).put("a", vec![3]);
    assert_eq!(decode(&encode(&container)).unwrap(), [("a".into(), vec![3]), ("b".into(), vec![2])]);
}

#[test]
fn a_missing_section_is_named_with_those_there_are() {
    let error = container(&sample()).get("replay").unwrap_err().to_string();
    assert!(error.contains("no section \"replay\", only \"numbers\", \"empty\", \"σ\""), "{error}");
    assert!(matches!(Container::new("k", 1).get(""), Err(Error::NoSection { .. })));
}

/// Every byte, every other value.
#[test]
fn any_changed_byte_is_found() {
    let mut bytes = sample_file();
    for at in 0..bytes.len() {
        for change in 1..=255 {
            bytes[at] ^= change;
            let error = decode(&bytes).expect_err("a changed byte was believed");
            let sort = matches!(error, Error::Foreign { .. }) == (at < MAGIC.len());
            assert!(sort, "byte {at} ^ {change}: {error}");
            bytes[at] ^= change;
        }
    }
    decode(&bytes).unwrap();
}

#[test]
fn any_cut_is_torn_and_any_addition_corrupt() {
    let bytes = sample_file();
    for len in 0..bytes.len() {
        let error = decode(&bytes[..len]).expect_err("a torn file was believed");
        let expected = len as u64;
        assert!(
            matches!(error, Error::Torn { found, stated, .. } if found == expected && stated > found),
            "{error}"
        );
    }
    let longer = [&bytes[..], b"x"].concat();
    assert!(matches!(decode(&longer), Err(Error::Corrupt { .. })));
}

#[test]
fn each_damage_has_its_message() {
    let message = |bytes: &[u8]| decode(bytes).unwrap_err().to_string();
    let file = sample_file();
    assert_eq!(
        message(b"step,return\n"),
        "a.checkpoint is not a checkpoint of adfq: it does not begin as files of adfq do; \
         give the path of a checkpoint"
    );
    let other = message(&forged(|header| header.kind = "model".into()));
    assert!(other.starts_with("a.checkpoint is not a checkpoint of adfq: it is a model; "), "{other}");
    let mut changed = file.clone();
    *changed.last_mut().unwrap() ^= 1;
    assert_eq!(
        message(&changed),
        "a.checkpoint is corrupt: the checksum of its section \"σ\" does not match; \
         use an older file of its kind or another copy of it"
    );
    let (all, some) = (file.len(), file.len() - 5);
    assert_eq!(
        message(&file[..some]),
        format!(
            "a.checkpoint is torn: it has {some} bytes of at least {all}; use an older file of its kind or another copy of it"
        )
    );
}

/// A later format may have other fields after the version of the program, which this one must not try to read.
#[test]
fn another_version_says_which_and_which_is_read() {
    let mut later = forged(|header| {
        header.version = 4;
        header.program = "9.8.7".into();
        header.entries.clear();
    });
    later.extend(b"anything");
    let error = decode(&later).unwrap_err();
    let here = env!("CARGO_PKG_VERSION");
    assert_eq!(
        error.to_string(),
        format!(
            "a.checkpoint is a checkpoint of format 4, written by adfq 9.8.7; this adfq {here} reads format 3: \
             use the one that wrote it, or write it anew with this one"
        )
    );
}

/// Lengths that would take all memory, or whose sum goes round, are compared with the file before any is believed.
#[test]
fn lengths_beyond_the_file_cost_nothing() {
    for len in [41, 1 << 40, u64::MAX - 100, u64::MAX] {
        let error = decode(&forged(|header| header.entries[0].len = len)).unwrap_err();
        assert!(matches!(error, Error::Torn { .. }), "{len}: {error}");
    }
    let round = forged(|header| {
        header.entries[0].len = 40 + (1 << 63);
        header.entries[1].len = 1 << 63;
    });
    assert!(matches!(decode(&round), Err(Error::Torn { stated: u64::MAX, .. })));
    let mut long = MAGIC.to_vec();
    long.extend(u32::MAX.to_le_bytes());
    assert!(matches!(decode(&long), Err(Error::Corrupt { .. })));
}

/// Fields that end too early, go on too long, or are no text, under a checksum that is right.
#[test]
fn forged_headers_are_refused() {
    let fields = {
        let file = forged(|_| {});
        let len = u32::from_le_bytes(file[8..12].try_into().unwrap()) as usize;
        file[12..12 + len].to_vec()
    };
    let refused = |fields: &[u8]| {
        let mut bytes = MAGIC.to_vec();
        bytes.extend((fields.len() as u32).to_le_bytes());
        bytes.extend(fields);
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        assert!(decode(&bytes).is_err());
    };
    (0..fields.len()).for_each(|len| refused(&fields[..len]));
    refused(&[&fields[..], &[0]].concat());
    for at in 0..fields.len() {
        let mut changed = fields.clone();
        changed[at] = 0xff;
        refused(&changed);
    }
}

#[test]
fn names_beyond_reason_are_refused_before_anything_is_written() {
    let dir = tempdir().unwrap();
    let name = "x".repeat(LONGEST as usize);
    let error =
        Container::new("checkpoint", 3).put(&name, vec![]).write(dir.path().join("file")).unwrap_err();
    assert!(error.to_string().contains("more than a megabyte"), "{error}");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn files_that_are_not_there_and_folders_are_named() {
    let dir = tempdir().unwrap();
    for path in [dir.path().join("missing"), dir.path().to_owned()] {
        let error = Container::read(&path, "checkpoint", 3).unwrap_err();
        assert!(matches!(&error, Error::Io { path: named, .. } if *named == path), "{error}");
    }
}

fn sections() -> impl Strategy<Value = Sections> {
    let section = (".{0,6}", vec(any::<u8>(), 0..60));
    vec(section, 0..5).prop_map(|list| {
        let unique: std::collections::BTreeMap<_, _> = list.into_iter().collect();
        unique.into_iter().collect()
    })
}

/// What happens to a file on its way.
#[derive(Clone, Debug)]
enum Mutation {
    Set(prop::sample::Index, u8),
    Cut(prop::sample::Index),
    Insert(prop::sample::Index, Vec<u8>),
    Remove(prop::sample::Index, usize),
    Copy(prop::sample::Index, prop::sample::Index, usize),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let at = any::<prop::sample::Index>;
    prop_oneof![
        3 => (at(), any::<u8>()).prop_map(|(at, byte)| Mutation::Set(at, byte)),
        1 => at().prop_map(Mutation::Cut),
        1 => (at(), vec(any::<u8>(), 1..9)).prop_map(|(at, bytes)| Mutation::Insert(at, bytes)),
        1 => (at(), 1..9usize).prop_map(|(at, len)| Mutation::Remove(at, len)),
        1 => (at(), at(), 1..20usize).prop_map(|(from, to, len)| Mutation::Copy(from, to, len)),
    ]
}

fn apply(mutation: Mutation, bytes: &mut Vec<u8>) {
    let len = bytes.len();
    if len == 0 {
        return;
    }
    match mutation {
        Mutation::Set(at, byte) => bytes[at.index(len)] = byte,
        Mutation::Cut(at) => bytes.truncate(at.index(len)),
        Mutation::Insert(at, new) => drop(bytes.splice(at.index(len)..at.index(len), new)),
        Mutation::Remove(at, count) => drop(bytes.drain(at.index(len)..(at.index(len) + count).min(len))),
        Mutation::Copy(from, to, count) => {
            let (from, to) = (from.index(len), to.index(len));
            let count = count.min(len - from.max(to));
            bytes.copy_within(from..from + count, to);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, rng_seed: RngSeed::Fixed(7), ..ProptestConfig::default() })]

    #[test]
    fn mutated_files_are_refused(sections in sections(), mutations in vec(mutation(), 1..4)) {
        let header = container(&sections).header().encode().unwrap();
        let mut bytes = header;
        sections.iter().for_each(|(_, section)| bytes.extend(section));
        let original = bytes.clone();
        mutations.into_iter().for_each(|mutation| apply(mutation, &mut bytes));
        match decode(&bytes) {
            Ok(read) => prop_assert!(bytes == original && read == sections),
            Err(_) => prop_assert!(bytes != original),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 50, rng_seed: RngSeed::Fixed(7), ..ProptestConfig::default() })]

    #[test]
    fn any_sections_come_back(sections in sections()) {
        prop_assert_eq!(decode(&encode(&container(&sections))).unwrap(), sections);
    }
}
