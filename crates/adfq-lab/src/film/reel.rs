//! A film as a file. Frames go to a nameless temporary file as they come; the film itself appears when it is whole.

use super::gif::{Animation, FASTEST};
use super::h264::Encoder;
use super::mp4::Track;
use super::yuv::Planes;
use crate::{Error, Result};
use adfq_env::Picture;
use adfq_files::{create_folder, write_atomic_with};
use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};

/// The most frames a second of an MP4.
const MOST_FRAMES: u32 = 120;
/// Longer GIFs are cut off: they grow to a size that no page shows any more.
const LONGEST_GIF: u64 = 3_000;

/// What kind of file a film is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// H.264 in MP4.
    Mp4,
    /// An animation, of at most 3,000 frames.
    Gif,
}

impl Format {
    /// The format that the file name's ending tells.
    ///
    /// ```
    /// use adfq_lab::film::Format;
    ///
    /// assert_eq!(Format::of("pong.mp4".as_ref())?, Format::Mp4);
    /// assert_eq!(Format::of("pong.GIF".as_ref())?, Format::Gif);
    /// let error = Format::of("pong.avi".as_ref()).unwrap_err().to_string();
    /// assert_eq!(error, "pong.avi is neither .mp4 nor .gif; give the film one of these endings");
    /// # Ok::<(), adfq_lab::Error>(())
    /// ```
    pub fn of(path: &Path) -> Result<Self> {
        match path.extension().map(|ending| ending.to_ascii_lowercase()) {
            Some(ending) if ending == "mp4" => Ok(Self::Mp4),
            Some(ending) if ending == "gif" => Ok(Self::Gif),
            _ => Err(Error::FilmFormat(path.to_owned())),
        }
    }

    /// Whether the format can show so many frames a second.
    pub fn check_rate(self, rate: u32) -> Result<()> {
        let most = if self == Self::Gif { FASTEST } else { MOST_FRAMES };
        if (1..=most).contains(&rate) { Ok(()) } else { Err(Error::FilmRate { asked: rate, most }) }
    }
}

/// What a finished film holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Footage {
    /// The frames in it.
    pub frames: u64,
    /// The frames that came after it was full.
    pub left_out: u64,
}

/// A film under construction.
///
/// ```
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("grey.mp4");
/// use adfq_env::Picture;
/// use adfq_lab::film::Film;
///
/// let mut film = Film::create(&path, 64, 48, 25)?;
/// for grey in 0..50 {
///     film.push(&Picture { width: 64, height: 48, rgb: vec![grey; 3 * 64 * 48] })?;
/// }
/// assert_eq!(film.finish()?.frames, 50);
/// assert_eq!(std::fs::read(&path).unwrap()[4..8], *b"ftyp");
/// # Ok::<(), adfq_lab::Error>(())
/// ```
pub struct Film {
    path: PathBuf,
    size: (usize, usize),
    footage: Footage,
    reel: Reel,
}

type Spool = BufWriter<File>;

enum Reel {
    Mp4 { spool: Spool, encoder: Box<Encoder>, sizes: Vec<u32>, keys: Vec<u32> },
    Gif(Animation<Spool>),
}

impl Film {
    /// A film of pictures of this size, which is at `path` once it is finished. The ending of the name decides the
    /// format. A last odd column or row of an MP4 is shown twice, since it has colour for pairs of pixels only.
    pub fn create(path: &Path, width: usize, height: usize, rate: u32) -> Result<Self> {
        let format = Format::of(path)?;
        format.check_rate(rate)?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        create_folder(folder)?;
        let failed = |error| adfq_files::Error::write(path, 0, error);
        let spool = || tempfile::tempfile_in(folder).map(BufWriter::new).map_err(failed);
        let reel = match format {
            Format::Mp4 => {
                let encoder = Box::new(Encoder::new(width, height, rate)?);
                Reel::Mp4 { spool: spool()?, encoder, sizes: vec![], keys: vec![] }
            }
            Format::Gif => Reel::Gif(Animation::new(spool()?, width, height, rate)?.map_err(failed)?),
        };
        Ok(Self { path: path.to_owned(), size: (width, height), footage: Footage::default(), reel })
    }

    /// The next picture.
    pub fn push(&mut self, picture: &Picture) -> Result<()> {
        let (width, height) = (picture.width, picture.height);
        if (width, height) != self.size || picture.rgb.len() != 3 * width * height {
            let reason = format!("the film is {} × {}", self.size.0, self.size.1);
            return Err(Error::FilmPicture { width, height, reason });
        }
        let written = match &mut self.reel {
            Reel::Gif(_) if self.footage.frames >= LONGEST_GIF => {
                self.footage.left_out += 1;
                return Ok(());
            }
            Reel::Gif(animation) => animation.push(picture),
            Reel::Mp4 { spool, encoder, sizes, keys } => {
                let coded = encoder.encode(Planes::of(picture));
                if coded.key {
                    keys.push(sizes.len() as u32);
                }
                // A frame has far less than 4 GB.
                let length = coded.unit.len() as u32;
                sizes.push(length + 4);
                spool.write_all(&length.to_be_bytes()).and_then(|()| spool.write_all(&coded.unit))
            }
        };
        written.map_err(|error| adfq_files::Error::write(&self.path, 0, error))?;
        self.footage.frames += 1;
        Ok(())
    }

    /// Writes the film to its place.
    pub fn finish(self) -> Result<Footage> {
        let failed = |error| adfq_files::Error::write(&self.path, 0, error);
        let (head, spool) = match self.reel {
            Reel::Mp4 { spool, encoder, sizes, keys } => {
                let track = Track { shape: encoder.shape(), parameters: encoder.parameters(), sizes, keys };
                (track.head(), spool)
            }
            Reel::Gif(animation) => (vec![], animation.finish().map_err(failed)?),
        };
        let (mut body, length) = rewound(spool).map_err(failed)?;
        write_atomic_with(&self.path, head.len() as u64 + length, |file| {
            file.write_all(&head)?;
            io::copy(&mut body, file).map(drop)
        })?;
        Ok(self.footage)
    }
}

/// The spool from its beginning, and its length.
fn rewound(spool: Spool) -> io::Result<(File, u64)> {
    let mut file = spool.into_inner().map_err(io::IntoInnerError::into_error)?;
    let length = file.stream_position()?;
    file.rewind()?;
    Ok((file, length))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grey(value: u8) -> Picture {
        Picture { width: 20, height: 10, rgb: vec![value; 600] }
    }

    #[test]
    fn a_film_appears_when_it_is_whole_and_leaves_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.mp4", "b.gif"] {
            let path = folder.path().join("new").join(name);
            let mut film = Film::create(&path, 20, 10, 25).unwrap();
            film.push(&grey(3)).unwrap();
            assert!(!path.exists());
            assert_eq!(film.finish().unwrap(), Footage { frames: 1, left_out: 0 });
        }
        let count = std::fs::read_dir(folder.path().join("new")).unwrap().count();
        assert_eq!(count, 2);
    }

    #[test]
    fn long_gifs_are_cut_off() {
        let folder = tempfile::tempdir().unwrap();
        let mut film = Film::create(&folder.path().join("long.gif"), 20, 10, 25).unwrap();
        (0..LONGEST_GIF + 7).for_each(|i| film.push(&grey((i % 251) as u8)).unwrap());
        assert_eq!(film.finish().unwrap(), Footage { frames: LONGEST_GIF, left_out: 7 });
    }

    #[test]
    fn mistakes_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.mp4");
        let mut film = Film::create(&path, 30, 10, 25).unwrap();
        let error = film.push(&grey(0)).unwrap_err().to_string();
        assert!(error.contains("20 × 10") && error.contains("30 × 10"), "{error}");
        assert!(matches!(Film::create(&path, 9, 9, 0), Err(Error::FilmRate { asked: 0, .. })));
        let gif = path.with_extension("gif");
        assert!(matches!(Film::create(&gif, 9, 9, 60), Err(Error::FilmRate { asked: 60, most: 50 })));
        let nowhere = path.join("b.mp4");
        std::fs::write(&path, "").unwrap();
        assert!(matches!(Film::create(&nowhere, 9, 9, 25), Err(Error::File(_))));
    }
}
