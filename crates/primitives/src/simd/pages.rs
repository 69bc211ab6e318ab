//! Large pages for tables that are read in random order: with small pages, address translation
//! takes longer than the read itself.

#![allow(unsafe_code)]

use std::ops::{Deref, DerefMut};

use zeroize::Zeroize;

/// A table of blocks, initially zero, aligned to a large page if the operating system has some.
/// Wiped when dropped.
pub struct Table(Store);

enum Store {
    #[cfg(target_os = "linux")]
    Mapped(mapped::Mapped),
    Listed(Vec<u128>),
}

impl Table {
    /// A table of so many blocks.
    pub fn new(length: usize) -> Self {
        #[cfg(target_os = "linux")]
        if let Some(mapped) = mapped::Mapped::new(length) {
            return Self(Store::Mapped(mapped));
        }
        Self(Store::Listed(vec![0; length]))
    }
}

impl Deref for Table {
    type Target = [u128];

    fn deref(&self) -> &[u128] {
        match &self.0 {
            #[cfg(target_os = "linux")]
            Store::Mapped(mapped) => mapped.blocks(),
            Store::Listed(list) => list,
        }
    }
}

impl DerefMut for Table {
    fn deref_mut(&mut self) -> &mut [u128] {
        match &mut self.0 {
            #[cfg(target_os = "linux")]
            Store::Mapped(mapped) => mapped.blocks_mut(),
            Store::Listed(list) => list,
        }
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        self.zeroize();
    }
}

#[cfg(target_os = "linux")]
mod mapped {
    use std::ffi::c_void;
    use std::ptr::{self, NonNull};

    use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

    /// The size of a large page on most processors.
    const LARGE_PAGE: usize = 2 << 20;

    /// Pages mapped for this table alone: memory from an allocator may already be on small pages.
    pub struct Mapped {
        start: NonNull<u128>,
        length: usize,
        pages: *mut c_void,
        bytes: usize,
    }

    // SAFETY: the pages belong to this value alone and are reached through its references.
    unsafe impl Send for Mapped {}
    // SAFETY: shared references only read.
    unsafe impl Sync for Mapped {}

    impl Mapped {
        /// `None` for less than a page, or if no pages can be mapped.
        pub fn new(length: usize) -> Option<Self> {
            let bytes = length.checked_mul(size_of::<u128>())?;
            if bytes < LARGE_PAGE {
                return None;
            }
            let bytes = bytes.checked_next_multiple_of(LARGE_PAGE)?.checked_add(LARGE_PAGE)?;
            let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
            // SAFETY: new pages, wherever the operating system puts them.
            let pages =
                unsafe { mmap_anonymous(ptr::null_mut(), bytes, protection, flags) }.ok()?;
            let before = pages.cast::<u8>().align_offset(LARGE_PAGE);
            // SAFETY: one page more than is needed was mapped, so all of this range is in it. The
            // advice changes how pages are mapped, not their contents; if it fails, nothing is
            // lost.
            let start = unsafe {
                let start = pages.cast::<u8>().add(before).cast::<c_void>();
                let _ = madvise(start, bytes - LARGE_PAGE, Advice::LinuxHugepage);
                start
            };
            let start = NonNull::new(start.cast())?;
            Some(Self { start, length, pages, bytes })
        }

        pub fn blocks(&self) -> &[u128] {
            // SAFETY: so many blocks are in the pages, which hold zeros or what was written.
            unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.length) }
        }

        pub fn blocks_mut(&mut self) -> &mut [u128] {
            // SAFETY: as above, and nobody else has a reference.
            unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.length) }
        }
    }

    impl Drop for Mapped {
        fn drop(&mut self) {
            // SAFETY: the pages that were mapped, to which no reference is left.
            let _ = unsafe { munmap(self.pages, self.bytes) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_hold_what_is_written_however_long_they_are() {
        for length in [0, 1, 255, 1 << 17, (1 << 17) + 1, 300_000] {
            let mut table = Table::new(length);
            assert_eq!(table.len(), length);
            assert!(table.iter().all(|block| *block == 0));
            table.iter_mut().zip(1..).for_each(|(block, number)| *block = number);
            assert!(table.iter().copied().eq(1..=length as u128));
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn long_tables_begin_where_a_large_page_does() {
        for length in [1 << 17, 284_672] {
            assert!(Table::new(length).as_ptr().cast::<u8>().addr().is_multiple_of(2 << 20));
        }
    }
}
