//! What several fuzz targets need: a count of the memory that a piece of work takes, and changes to a text.

use arbitrary::Arbitrary;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The system's allocator, which also counts what is held.
struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every request goes to the system's allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Relaxed);
        unsafe { System.dealloc(pointer, layout) }
    }
}

fn count(bytes: usize) {
    let held = HELD.fetch_add(bytes, Relaxed).saturating_add(bytes);
    MOST.fetch_max(held, Relaxed);
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Does the work, and panics if it held more than so many bytes at a time.
pub fn within<T>(bytes: usize, work: impl FnOnce() -> T) -> T {
    let before = HELD.load(Relaxed);
    MOST.store(before, Relaxed);
    let done = work();
    let held = MOST.load(Relaxed).saturating_sub(before);
    assert!(held <= bytes, "{held} bytes were held, {bytes} are allowed");
    done
}

/// A change to a text with settings. It leaves the rest in order, so that the change is looked at and not only refused.
#[derive(Arbitrary, Debug)]
pub enum Edit {
    /// The number with this index becomes another one.
    Integer(u8, i64),
    /// The same with a fraction.
    Float(u8, f64),
    /// The number with this index becomes a power of two.
    Power(u8, u8),
    /// The quoted word with this index becomes another one.
    Word(u8, String),
    /// The line with this index is left out.
    Cut(u8),
}

impl Edit {
    /// The text with the change.
    pub fn apply(&self, text: &str) -> String {
        let number = |c: char| c.is_ascii_digit() || "+-._e".contains(c);
        match self {
            Self::Integer(at, value) => replace(text, *at, number, &value.to_string()),
            Self::Float(at, value) => replace(text, *at, number, &format!("{value:?}")),
            Self::Power(at, power) => replace(text, *at, number, &(1u128 << (power % 70)).to_string()),
            Self::Word(at, word) => {
                let mut parts: Vec<_> = text.split('"').collect();
                let words = parts.len() / 2;
                if words > 0 {
                    parts[2 * (usize::from(*at) % words) + 1] = word;
                }
                parts.join("\"")
            }
            Self::Cut(at) => {
                let lines: Vec<_> = text.lines().collect();
                let cut = usize::from(*at) % lines.len().max(1);
                let kept = lines.iter().enumerate().filter(|(i, _)| *i != cut);
                kept.map(|(_, line)| format!("{line}\n")).collect()
            }
        }
    }
}

/// Puts `new` in place of a stretch of characters of this kind that begins with a digit, a sign or a point.
fn replace(text: &str, index: u8, kind: impl Fn(char) -> bool, new: &str) -> String {
    let mut found = vec![];
    let mut from = 0;
    for part in text.split_inclusive(|c: char| !kind(c)) {
        let end = part.trim_end_matches(|c: char| !kind(c)).len();
        if part.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '.') && end > 0 {
            found.push(from..from + end);
        }
        from += part.len();
    }
    match found.len() {
        0 => text.to_owned(),
        count => {
            let place = &found[usize::from(index) % count];
            format!("{}{new}{}", &text[..place.start], &text[place.end..])
        }
    }
}
