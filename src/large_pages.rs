//! Large tables lie in large pages: without them, every second access to a table of pairs waits for the address first.
//! Each begins where a large page does, since what lies before the first and behind the last is of small pages, and to
//! get those takes longer than all large ones.

use std::alloc::{GlobalAlloc, Layout, System};

/// From this size on it pays (measured: words and bigrams are learned a quarter faster, words alone as before).
const LARGE: usize = 4 << 20;

/// The size of a large page of most systems; where it is another, a table is only aligned more than it needs.
const PAGE: usize = 2 << 20;

pub struct LargePages;

// SAFETY: everything is the system's allocator's, which on Linux frees and grows memory whatever its alignment is; a
// layout is only made larger and aligned more.
unsafe impl GlobalAlloc for LargePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.size() < LARGE {
            // SAFETY: as asked.
            return unsafe { System.alloc(layout) };
        }
        let bytes = layout.size().next_multiple_of(PAGE);
        let Ok(layout) = Layout::from_size_align(bytes, PAGE.max(layout.align())) else {
            return std::ptr::null_mut();
        };
        // SAFETY: the size is not zero.
        let table = unsafe { System.alloc(layout) };
        if !table.is_null() {
            advise(table, bytes);
        }
        table
    }

    unsafe fn dealloc(&self, table: *mut u8, layout: Layout) {
        // SAFETY: it is the system's.
        unsafe { System.dealloc(table, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as asked.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, table: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        // SAFETY: it is the system's.
        unsafe { System.realloc(table, layout, bytes) }
    }
}

/// Ask the system for large pages. It may say no; nothing depends on it.
///
/// What the allocator hands out again has small pages already, and would keep them: they are given back first. Without
/// this, half of the tables of a living model had small pages, and to learn one review took twice as long.
fn advise(table: *mut u8, bytes: usize) {
    // SAFETY: the range is whole pages of a new allocation, of which nothing has been written yet: that pages given back
    // read as zeros changes nothing.
    unsafe {
        libc::madvise(table.cast(), bytes, libc::MADV_DONTNEED);
        libc::madvise(table.cast(), bytes, libc::MADV_HUGEPAGE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_tables_begin_with_a_page_and_keep_what_they_hold_while_they_grow() {
        let mut table: Vec<u64> = Vec::with_capacity(LARGE);
        assert_eq!(table.as_ptr() as usize % PAGE, 0);
        table.extend(0..LARGE as u64);
        table.reserve_exact(2 * LARGE);
        assert!((0..).zip(&table).all(|(i, &value)| i == value));
        table.shrink_to(LARGE);
        table.truncate(9);
        table.shrink_to_fit();
        assert_eq!(table, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
        assert!(vec![0u8; LARGE + 1].iter().all(|&zero| zero == 0));
    }
}
