//! Large pages for tables that are read in random order: a processor finds them without looking up
//! where each small page lies, which would take as long as the reading.

#![allow(unsafe_code)]

/// Asks the operating system to put what will be written to a list on large pages, if it can. Do it
/// before anything is written.
pub fn prefer_large(list: &mut Vec<u128>) {
    #[cfg(target_os = "linux")]
    {
        use std::ffi::{c_int, c_void};
        unsafe extern "C" {
            fn madvise(address: *mut c_void, length: usize, advice: c_int) -> c_int;
        }
        const HUGE_PAGES: c_int = 14;
        const PAGE: usize = 1 << 12;
        let room = list.spare_capacity_mut();
        let before = room.as_ptr().cast::<u8>().align_offset(PAGE);
        let length = (room.len() * size_of::<u128>()).saturating_sub(before) / PAGE * PAGE;
        if length > 0 {
            // SAFETY: the address is inside of the list's own room. The advice changes how pages are
            // mapped, not what they hold, so neither pages that are larger than this, of which some
            // lies beyond the list, nor a refusal matter.
            unsafe {
                let address = room.as_mut_ptr().cast::<u8>().add(before);
                madvise(address.cast(), length, HUGE_PAGES);
            }
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = list;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_hold_what_is_written_wherever_they_lie() {
        for length in [0, 1, 255, 256, 300, 1 << 18] {
            let mut list = Vec::with_capacity(length);
            prefer_large(&mut list);
            list.extend(0..length as u128);
            prefer_large(&mut list);
            assert!(list.iter().copied().eq(0..length as u128));
        }
    }
}
