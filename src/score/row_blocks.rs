//! Which rows of weights documents hold, block by block of rows: while the rows of a block are in the cache, they are
//! added to all documents that hold any of them.

/// Entries that name a row each, by blocks of `SIZE` rows.
pub struct Blocks<E, const SIZE: usize> {
    blocks: Vec<Block<E>>,
    /// Where the next entry of each block goes among those of a document.
    next: Vec<usize>,
    sorted: Vec<E>,
}

pub struct Block<E> {
    pub entries: Vec<E>,
    /// A document and how many of the entries are its.
    pub runs: Vec<(u32, u32)>,
}

impl<E: Copy + Default, const SIZE: usize> Blocks<E, SIZE> {
    pub fn new(rows: usize) -> Self {
        let mut blocks = Vec::new();
        blocks.resize_with(rows.div_ceil(SIZE), || Block { entries: Vec::new(), runs: Vec::new() });
        Self { next: vec![0; blocks.len()], blocks, sorted: Vec::new() }
    }

    /// What the next document holds. Within a block the entries stay in this order.
    pub fn push(&mut self, document: usize, entries: &[E], row: impl Fn(&E) -> u32) {
        let block = |entry: &E| row(entry) as usize / SIZE;
        self.next.fill(0);
        entries.iter().for_each(|entry| self.next[block(entry)] += 1);
        let mut end = 0;
        for next in &mut self.next {
            end += std::mem::replace(next, end);
        }
        self.sorted.resize(end, E::default());
        for entry in entries {
            let next = &mut self.next[block(entry)];
            self.sorted[*next] = *entry;
            *next += 1;
        }
        let mut start = 0;
        for (block, &end) in self.blocks.iter_mut().zip(&self.next) {
            if end > start {
                block.entries.extend_from_slice(&self.sorted[start..end]);
                block.runs.push((document as u32, (end - start) as u32));
            }
            start = end;
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &Block<E>> {
        self.blocks.iter()
    }
}

impl<E> Block<E> {
    /// The documents that hold any of the rows, with what they hold.
    #[inline(always)]
    pub fn for_each(&self, mut visit: impl FnMut(usize, &[E])) {
        let mut rest = &self.entries[..];
        for &(document, length) in &self.runs {
            let (entries, others) = rest.split_at(length as usize);
            rest = others;
            visit(document as usize, entries);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn each_block_has_its_rows_of_each_document_in_order(documents in prop::collection::vec(prop::collection::vec(0u32..100, 0..40), 0..5)) {
            let mut blocks = Blocks::<u32, 7>::new(100);
            documents.iter().enumerate().for_each(|(i, rows)| blocks.push(i, rows, |&row| row));
            for (i, block) in blocks.iter().enumerate() {
                let mut found = vec![Vec::new(); documents.len()];
                block.for_each(|document, rows| found[document].extend_from_slice(rows));
                for (found, rows) in found.into_iter().zip(&documents) {
                    prop_assert!(found.into_iter().eq(rows.iter().copied().filter(|row| *row as usize / 7 == i)));
                }
            }
        }
    }
}
