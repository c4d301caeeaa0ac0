//! Pictures of environments as PNG files.

use adfq_env::Picture;
use png::{BitDepth, ColorType, Compression, Encoder};

/// A picture as PNG, or none if it has no pixels.
pub fn encode(picture: &Picture) -> Option<Vec<u8>> {
    let (width, height) = (u32::try_from(picture.width).ok()?, u32::try_from(picture.height).ok()?);
    let mut bytes = vec![];
    let mut encoder = Encoder::new(&mut bytes, width, height);
    encoder.set_color(ColorType::Rgb);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_compression(Compression::Fast);
    let mut writer = encoder.write_header().ok()?;
    writer.write_image_data(&picture.rgb).ok()?;
    writer.finish().ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_comes_back_as_it_was() {
        let picture = Picture { width: 2, height: 1, rgb: vec![255, 0, 0, 0, 0, 255] };
        let bytes = encode(&picture).unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
        let mut rgb = vec![0; 6];
        reader.next_frame(&mut rgb).unwrap();
        assert_eq!(rgb, picture.rgb);
        assert!(encode(&Picture { width: 0, height: 0, rgb: vec![] }).is_none());
    }
}
