//! Who follows indexed counts as they change.

use crate::tally::cells::Cell;
use crate::tally::counted::Counted;

/// What follows indexed counts as they change.
pub trait Watcher {
    /// Make room for terms that may be new.
    fn grow(&mut self, counts: &Counted);
    /// Ask the memory for what the cells of these terms will need.
    fn fetch(&mut self, counts: &Counted, cells: &[Cell]);
    /// The cells of these terms in this class are about to change.
    fn before(&mut self, counts: &Counted, class: usize, cells: &[Cell]);
    /// They have changed, and of other cells of the same terms maybe the places.
    fn after(&mut self, counts: &Counted, class: usize, cells: &[Cell]);
    /// One cell has changed, and no place has moved.
    fn changed(&mut self, counts: &Counted, class: usize, cell: &Changed);
    /// The counts are no longer indexed.
    fn lost(&mut self);
}

/// A cell that has changed: where it is, whether its term had a count before, and what it was and is.
pub struct Changed {
    pub node: usize,
    pub place: usize,
    pub live: bool,
    pub old: Cell,
    pub new: Cell,
}

/// No rows follow.
impl Watcher for () {
    fn grow(&mut self, _: &Counted) {}
    fn fetch(&mut self, _: &Counted, _: &[Cell]) {}
    fn before(&mut self, _: &Counted, _: usize, _: &[Cell]) {}
    fn after(&mut self, _: &Counted, _: usize, _: &[Cell]) {}
    fn changed(&mut self, _: &Counted, _: usize, _: &Changed) {}
    fn lost(&mut self) {}
}
