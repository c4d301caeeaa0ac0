//! A video as a file. Frames are coded as they come; the file appears when the video is complete.

use super::gif::{self, Animation};
use super::mp4::{self, Movie};
use crate::{Error, Result};
use adfq_env::Picture;
use adfq_files::{check_writable, create_folder, write_atomic};
use std::path::{Path, PathBuf};

/// Longer GIFs are cut off: they grow to a size that no page shows any more.
const LONGEST_GIF: u64 = 3_000;

/// The format of a video.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// H.264 in MP4.
    Mp4,
    /// An animation, of at most 3,000 frames.
    Gif,
}

impl Format {
    /// The format that the file name's ending tells.
    pub fn of(path: &Path) -> Result<Self> {
        match path.extension().map(|ending| ending.to_ascii_lowercase()) {
            Some(ending) if ending == "mp4" => Ok(Self::Mp4),
            Some(ending) if ending == "gif" => Ok(Self::Gif),
            _ => Err(Error::VideoFormat(path.to_owned())),
        }
    }

    /// Whether the format can show so many frames a second.
    pub fn check_rate(self, rate: u32) -> Result<()> {
        let most = if self == Self::Gif { gif::FASTEST } else { mp4::FASTEST };
        if (1..=most).contains(&rate) { Ok(()) } else { Err(Error::VideoRate { asked: rate, most }) }
    }
}

/// What a finished video holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recorded {
    /// The frames in it.
    pub frames: u64,
    /// The frames that came after it was full.
    pub left_out: u64,
}

/// A video under construction.
pub struct VideoFile {
    path: PathBuf,
    size: (usize, usize),
    recorded: Recorded,
    coder: Coder,
}

enum Coder {
    Mp4(Box<Movie>),
    Gif(Animation),
}

impl VideoFile {
    /// A video of pictures of this size, which is at `path` once it is finished. The ending of the name decides the
    /// format.
    pub fn create(path: &Path, width: usize, height: usize, rate: u32) -> Result<Self> {
        let format = Format::of(path)?;
        format.check_rate(rate)?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        create_folder(folder)?;
        check_writable(folder)?;
        let coder = match format {
            Format::Mp4 => Coder::Mp4(Box::new(Movie::new(width, height, rate)?)),
            Format::Gif => Coder::Gif(Animation::new(width, height, rate)?),
        };
        Ok(Self { path: path.to_owned(), size: (width, height), recorded: Recorded::default(), coder })
    }

    /// The next picture.
    pub fn push(&mut self, picture: &Picture) -> Result<()> {
        let (width, height) = (picture.width, picture.height);
        if (width, height) != self.size || picture.rgb.len() != 3 * width * height {
            let reason = format!("the video is {} × {}", self.size.0, self.size.1);
            return Err(Error::VideoPicture { width, height, reason });
        }
        match &mut self.coder {
            Coder::Gif(_) if self.recorded.frames >= LONGEST_GIF => {
                self.recorded.left_out += 1;
                return Ok(());
            }
            Coder::Gif(animation) => animation.push(picture)?,
            Coder::Mp4(movie) => movie.push(picture)?,
        }
        self.recorded.frames += 1;
        Ok(())
    }

    /// Writes the video.
    pub fn finish(self) -> Result<Recorded> {
        let bytes = match self.coder {
            Coder::Mp4(movie) => movie.finish()?,
            Coder::Gif(animation) => animation.finish()?,
        };
        write_atomic(&self.path, &bytes)?;
        Ok(self.recorded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grey(value: u8) -> Picture {
        Picture { width: 20, height: 10, rgb: vec![value; 600] }
    }

    #[test]
    fn a_video_appears_when_it_is_whole_and_leaves_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.mp4", "b.gif"] {
            let path = folder.path().join("new").join(name);
            let mut video = VideoFile::create(&path, 20, 10, 25).unwrap();
            video.push(&grey(3)).unwrap();
            assert!(!path.exists());
            assert_eq!(video.finish().unwrap(), Recorded { frames: 1, left_out: 0 });
        }
        let count = std::fs::read_dir(folder.path().join("new")).unwrap().count();
        assert_eq!(count, 2);
    }

    #[test]
    fn the_name_tells_the_format() {
        let format = |name: &str| Format::of(name.as_ref());
        assert_eq!(format("pong.mp4").unwrap(), Format::Mp4);
        assert_eq!(format("pong.GIF").unwrap(), Format::Gif);
        let error = format("pong.avi").unwrap_err().to_string();
        assert_eq!(error, "pong.avi is neither .mp4 nor .gif; give the video one of these endings");
    }

    #[test]
    fn long_gifs_are_cut_off() {
        let folder = tempfile::tempdir().unwrap();
        let mut video = VideoFile::create(&folder.path().join("long.gif"), 20, 10, 25).unwrap();
        (0..LONGEST_GIF + 7).for_each(|i| video.push(&grey((i % 251) as u8)).unwrap());
        assert_eq!(video.finish().unwrap(), Recorded { frames: LONGEST_GIF, left_out: 7 });
    }

    #[test]
    fn mistakes_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.mp4");
        let mut video = VideoFile::create(&path, 30, 10, 25).unwrap();
        let error = video.push(&grey(0)).unwrap_err().to_string();
        assert!(error.contains("20 × 10") && error.contains("30 × 10"), "{error}");
        assert!(matches!(VideoFile::create(&path, 9, 9, 0), Err(Error::VideoRate { asked: 0, .. })));
        let gif = path.with_extension("gif");
        assert!(matches!(VideoFile::create(&gif, 9, 9, 60), Err(Error::VideoRate { asked: 60, most: 50 })));
        let nowhere = path.join("b.mp4");
        std::fs::write(&path, "").unwrap();
        assert!(matches!(VideoFile::create(&nowhere, 9, 9, 25), Err(Error::File(_))));
    }
}
