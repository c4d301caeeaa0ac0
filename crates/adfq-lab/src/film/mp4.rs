//! The MP4 file around an H.264 stream (ISO/IEC 14496-12 and -15): one track, its index before its frames, so that a
//! browser can begin before it has the whole file.

use super::h264::{CONSTRAINTS, PROFILE, Shape};

/// Units of time in a frame.
const TICKS: u32 = 100;
/// What players call a size or a matrix of one: 16.16 fixed point.
const ONE: u32 = 1 << 16;

/// What is known of the frames once all have been written.
pub struct Track {
    /// The form of the film.
    pub shape: Shape,
    /// The sequence and the picture parameter set.
    pub parameters: [Vec<u8>; 2],
    /// The bytes of each frame.
    pub sizes: Vec<u32>,
    /// Which of them are key frames.
    pub keys: Vec<u32>,
}

impl Track {
    /// Everything before the first frame.
    pub fn head(&self) -> Vec<u8> {
        let kind = file_type();
        let media: u64 = self.sizes.iter().map(|&size| u64::from(size)).sum();
        let data = data_header(media);
        // The index holds offsets into the file, which depend on the length of the index, but that not on them.
        let wide = u32::try_from(media + (1 << 30)).is_err();
        let length = kind.len() + self.index(0, wide).len() + data.len();
        [kind, self.index(length as u64, wide), data].concat()
    }

    fn duration(&self) -> u32 {
        u32::try_from(self.sizes.len() as u64 * u64::from(TICKS)).unwrap_or(u32::MAX)
    }

    fn index(&self, start: u64, wide: bool) -> Vec<u8> {
        container(b"moov", &[self.movie_header(), self.track(start, wide)])
    }

    fn movie_header(&self) -> Vec<u8> {
        // No creation time: the same film is the same bytes.
        let mut body = words(&[0, 0, TICKS * self.shape.rate, self.duration(), ONE]);
        body.extend([1, 0, 0, 0]); // volume
        body.extend(words(&[0, 0]));
        body.extend(matrix());
        body.extend(words(&[0, 0, 0, 0, 0, 0]));
        body.extend(words(&[2])); // the next track's number
        full(b"mvhd", 0, &body)
    }

    fn track(&self, start: u64, wide: bool) -> Vec<u8> {
        let (width, height) = self.shape.shown();
        let mut header = words(&[0, 0, 1, 0, self.duration(), 0, 0, 0, 0]);
        header.extend(matrix());
        header.extend(words(&[ONE * width as u32, ONE * height as u32]));
        // Enabled, and part of the film.
        container(b"trak", &[full(b"tkhd", 3, &header), self.media(start, wide)])
    }

    fn media(&self, start: u64, wide: bool) -> Vec<u8> {
        let mut header = words(&[0, 0, TICKS * self.shape.rate, self.duration()]);
        header.extend([0x55, 0xc4, 0, 0]); // no language
        let mut handler = words(&[0]);
        handler.extend(b"vide");
        handler.extend(words(&[0, 0, 0]));
        handler.extend(b"video\0");
        let reference = full(b"dref", 0, &[words(&[1]), full(b"url ", 1, &[])].concat());
        let information = container(
            b"minf",
            &[
                full(b"vmhd", 1, &[0; 8]),
                container(b"dinf", &[reference]),
                container(b"stbl", &self.samples(start, wide)),
            ],
        );
        container(b"mdia", &[full(b"mdhd", 0, &header), full(b"hdlr", 0, &handler), information])
    }

    /// The tables of all frames: what they are, how long they last, and where they stand.
    fn samples(&self, start: u64, wide: bool) -> Vec<Vec<u8>> {
        let count = self.sizes.len() as u32;
        let keys: Vec<u32> = self.keys.iter().map(|key| key + 1).collect();
        let (chunks, offsets) = self.chunks(start, wide);
        vec![
            full(b"stsd", 0, &[words(&[1]), self.entry()].concat()),
            full(b"stts", 0, &words(&[1, count, TICKS])),
            full(b"stss", 0, &[words(&[keys.len() as u32]), words(&keys)].concat()),
            chunks,
            full(b"stsz", 0, &[words(&[0, count]), words(&self.sizes)].concat()),
            offsets,
        ]
    }

    /// A second of film is a chunk; the last one may be shorter.
    fn chunks(&self, start: u64, wide: bool) -> (Vec<u8>, Vec<u8>) {
        let long = self.shape.rate;
        let whole = self.sizes.len() as u32 / long;
        let rest = self.sizes.len() as u32 % long;
        let runs: Vec<[u32; 3]> =
            [(whole > 0).then_some([1, long, 1]), (rest > 0).then_some([whole + 1, rest, 1])]
                .into_iter()
                .flatten()
                .collect();
        let table = full(b"stsc", 0, &[words(&[runs.len() as u32]), words(runs.as_flattened())].concat());
        let mut at = start;
        let mut offsets = words(&[whole + u32::from(rest > 0)]);
        for chunk in self.sizes.chunks(long as usize) {
            match wide {
                true => offsets.extend(at.to_be_bytes()),
                false => offsets.extend((at as u32).to_be_bytes()),
            }
            at += chunk.iter().map(|&size| u64::from(size)).sum::<u64>();
        }
        (table, full(if wide { b"co64" } else { b"stco" }, 0, &offsets))
    }

    /// How the frames are coded.
    fn entry(&self) -> Vec<u8> {
        let (width, height) = self.shape.shown();
        let mut body = vec![0; 6];
        body.extend([0, 1]); // the data reference
        body.extend([0; 16]);
        body.extend((width as u16).to_be_bytes());
        body.extend((height as u16).to_be_bytes());
        body.extend(words(&[72 * ONE, 72 * ONE, 0])); // dots an inch
        body.extend([0, 1]); // a frame each
        body.extend([0; 32]); // no name
        body.extend([0, 24, 0xff, 0xff]); // colour without alpha
        body.extend(boxed(b"avcC", &self.configuration()));
        // Primaries, transfer and matrix of BT.601, limited range, as the stream says itself.
        body.extend(boxed(b"colr", &[b"nclx".as_slice(), &[0, 6, 0, 6, 0, 6, 0]].concat()));
        body.extend(boxed(b"pasp", &words(&[1, 1])));
        boxed(b"avc1", &body)
    }

    fn configuration(&self) -> Vec<u8> {
        // Lengths of four bytes before units, and one set of each kind.
        let mut body = vec![1, PROFILE, CONSTRAINTS, self.shape.level, 0xff];
        for (set, count) in self.parameters.iter().zip([0xe1, 1]) {
            body.push(count);
            body.extend((set.len() as u16).to_be_bytes());
            body.extend(set);
        }
        body
    }
}

fn file_type() -> Vec<u8> {
    boxed(b"ftyp", &[b"isom".as_slice(), &512_u32.to_be_bytes(), b"isomiso2avc1mp41"].concat())
}

/// The header of the box with the frames, long where it must be.
fn data_header(media: u64) -> Vec<u8> {
    match u32::try_from(media + 8) {
        Ok(length) => [length.to_be_bytes().as_slice(), b"mdat"].concat(),
        Err(_) => [1_u32.to_be_bytes().as_slice(), b"mdat", &(media + 16).to_be_bytes()].concat(),
    }
}

fn boxed(kind: &[u8; 4], body: &[u8]) -> Vec<u8> {
    [((body.len() + 8) as u32).to_be_bytes().as_slice(), kind, body].concat()
}

/// A box of version 0 with flags.
fn full(kind: &[u8; 4], flags: u32, body: &[u8]) -> Vec<u8> {
    boxed(kind, &[&flags.to_be_bytes(), body].concat())
}

fn container(kind: &[u8; 4], boxes: &[Vec<u8>]) -> Vec<u8> {
    boxed(kind, &boxes.concat())
}

fn words(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_be_bytes()).collect()
}

/// No rotation.
fn matrix() -> Vec<u8> {
    words(&[ONE, 0, 0, 0, ONE, 0, 0, 0, 1 << 30])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn track(frames: usize) -> Track {
        Track {
            shape: Shape::new(800, 440, 25).unwrap(),
            parameters: [vec![0x67, 1], vec![0x68, 2]],
            sizes: (0..frames as u32).map(|i| 10 + i).collect(),
            keys: vec![0],
        }
    }

    /// The body of the box at this path of names.
    fn find<'a>(mut bytes: &'a [u8], path: &[&[u8; 4]]) -> &'a [u8] {
        for kind in path {
            loop {
                let length = u32::from_be_bytes(bytes[..4].try_into().unwrap()) as usize;
                if &bytes[4..8] == *kind {
                    bytes = &bytes[8..length];
                    break;
                }
                bytes = &bytes[length..];
            }
        }
        bytes
    }

    fn numbers(bytes: &[u8]) -> Vec<u32> {
        bytes.chunks_exact(4).map(|word| u32::from_be_bytes(word.try_into().unwrap())).collect()
    }

    const TABLES: [&[u8; 4]; 5] = [b"moov", b"trak", b"mdia", b"minf", b"stbl"];

    fn table(head: &[u8], kind: &[u8; 4]) -> Vec<u32> {
        numbers(find(find(head, &TABLES), &[kind]))
    }

    #[test]
    fn tables_say_where_each_frame_stands() {
        let head = track(60).head();
        assert_eq!(head[4..8], *b"ftyp");
        assert_eq!(head[head.len() - 4..], *b"mdat");
        assert_eq!(table(&head, b"stts"), [0, 1, 60, 100]);
        assert_eq!(table(&head, b"stss"), [0, 1, 1]);
        assert_eq!(table(&head, b"stsc"), [0, 2, 1, 25, 1, 3, 10, 1]);
        assert_eq!(table(&head, b"stsz")[..4], [0, 0, 60, 10]);
        let second = 25 * 10 + (0..25).sum::<u32>();
        let (start, third) = (head.len() as u32, 2 * second + 25 * 25);
        assert_eq!(table(&head, b"stco"), [0, 3, start, start + second, start + third]);
        assert_eq!(numbers(find(&head, &[b"moov", b"mvhd"]))[3..5], [2500, 6000]);
    }

    #[test]
    fn short_films_have_one_chunk() {
        assert_eq!(table(&track(3).head(), b"stsc"), [0, 1, 1, 3, 1]);
        assert_eq!(table(&track(25).head(), b"stsc"), [0, 1, 1, 25, 1]);
    }

    #[test]
    fn decoders_are_told_profile_level_and_sets() {
        let head = track(1).head();
        let entry = &find(find(&head, &TABLES), &[b"stsd"])[8..];
        let inner = &find(entry, &[b"avc1"])[78..];
        assert_eq!(find(inner, &[b"avcC"]), [1, 66, 0xc0, 31, 0xff, 0xe1, 0, 2, 0x67, 1, 1, 0, 2, 0x68, 2]);
        assert_eq!(find(inner, &[b"pasp"]), [0, 0, 0, 1, 0, 0, 0, 1]);
    }

    #[test]
    fn more_than_four_gigabytes_have_long_offsets() {
        let mut track = track(51);
        track.sizes.fill(100_000_000);
        let head = track.head();
        assert_eq!(head[head.len() - 16..][..8], *b"\0\0\0\x01mdat");
        assert_eq!(head[head.len() - 8..], (5_100_000_000_u64 + 16).to_be_bytes());
        let offsets = find(find(&head, &TABLES), &[b"co64"]);
        assert_eq!(offsets[offsets.len() - 8..], (5_000_000_000 + head.len() as u64).to_be_bytes());
    }
}
