//! Tables that grow, in large pages where the system has them, and hints of what will be needed soon.

/// An empty table with room for so many.
pub fn with_room<T>(length: usize) -> Vec<T> {
    Vec::with_capacity(length)
}

/// `length` copies of `value`.
pub fn filled<T: Copy>(length: usize, value: T) -> Vec<T> {
    let mut table = with_room(length);
    table.resize(length, value);
    table
}

/// There is not so much memory.
#[derive(Debug)]
pub struct NoRoom {
    pub bytes: u128,
}

/// `rows * columns` zeros, if there is room for them: what is asked for depends on the input alone, and may be anything.
pub fn zeros<T: Copy + Default>(rows: usize, columns: usize) -> Result<Vec<T>, NoRoom> {
    // Tried and given back: only `vec!` gets zeros from the system without writing them.
    check_room::<T>(rows, columns)?;
    Ok(vec![T::default(); rows * columns])
}

/// Whether there is room for `rows * columns` values: asked before they are made where a product of two sizes of the
/// input decides.
pub fn check_room<T>(rows: usize, columns: usize) -> Result<(), NoRoom> {
    let none = || NoRoom { bytes: rows as u128 * columns as u128 * size_of::<T>() as u128 };
    let length = rows.checked_mul(columns).ok_or_else(none)?;
    Vec::<T>::new().try_reserve_exact(length).map_err(|_| none())
}

/// All of `values`, whose number is known.
pub fn collected<T>(values: impl ExactSizeIterator<Item = T>) -> Vec<T> {
    let mut table = with_room(values.len());
    table.extend(values);
    table
}

/// Make room in a table for so many in all.
pub fn reserve<T: Copy>(table: &mut Vec<T>, length: usize) {
    if length > table.capacity() {
        let mut longer = with_room(length);
        longer.extend_from_slice(table);
        *table = longer;
    }
}

/// Make a table longer, at least doubling what it has room for.
pub fn extend<T: Copy>(table: &mut Vec<T>, length: usize, value: T) {
    if length > table.capacity() {
        reserve(table, length.max(2 * table.capacity()));
    }
    table.resize(length.max(table.len()), value);
}

/// The same of a table that will become `all` long, step by step.
pub fn extend_to<T: Copy>(table: &mut Vec<T>, length: usize, all: usize, value: T) {
    if table.is_empty() {
        *table = with_room(all);
    }
    extend(table, length, value);
}

/// Append a value; where there is no room, the table is made half as long again.
#[inline(always)]
pub fn push<T: Copy>(table: &mut Vec<T>, value: T) {
    if table.len() == table.capacity() {
        make_room(table);
    }
    table.push(value);
}

#[cold]
fn make_room<T: Copy>(table: &mut Vec<T>) {
    let mut longer = with_room(table.len() + (table.len() / 2).max(16));
    longer.extend_from_slice(table);
    *table = longer;
}

/// Ask for an element that will be needed soon.
#[inline(always)]
pub fn prefetch<T>(elements: &[T], at: usize) {
    prefetch_address(elements.as_ptr().wrapping_add(at).cast());
}

/// Ask for all of some elements.
#[inline(always)]
pub fn prefetch_all<T>(elements: &[T]) {
    const LINE: usize = 64;
    let first: *const u8 = elements.as_ptr().cast();
    let before = first as usize % LINE;
    for at in (0..before + size_of_val(elements)).step_by(LINE) {
        prefetch_address(first.wrapping_add(at).wrapping_sub(before));
    }
}

#[inline(always)]
fn prefetch_address(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch reads nothing; any address is allowed.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}
