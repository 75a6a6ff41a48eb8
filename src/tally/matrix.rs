//! Documents as rows of a sparse matrix: how often each term occurs in each, terms in the order of their names.

use crate::analyze::reader::{Document, Reader};
use crate::context::Context;
use crate::errors::TallyError;
use crate::lexicon::Lexicon;
use crate::threads::ranges;

/// Compressed rows. The name of column c ends at `name_ends[c]`, where that of column c + 1 begins.
#[derive(Default)]
pub struct Matrix {
    pub names: Vec<u8>,
    pub name_ends: Vec<u64>,
    pub row_ends: Vec<i64>,
    pub columns: Vec<i64>,
    pub counts: Vec<i64>,
}

pub fn matrix(context: &Context, documents: &[Document]) -> Result<Matrix, TallyError> {
    let order: Vec<u32> = (0..documents.len() as u32).collect();
    let mut lexicon = Lexicon::default();
    let mut reader = Reader::default();
    let mut matrix = Matrix::default();
    let mut terms = Vec::new();
    for range in ranges(documents, &order, context.read_bytes()) {
        context.check()?;
        let read = reader.read(&documents[range.clone()], context.analysis, context.normalizer, &mut lexicon);
        read.map_err(|error| TallyError::Read(error.in_document_of(&order[range.clone()])))?;
        for document in 0..range.len() {
            terms.clear();
            terms.extend_from_slice(reader.terms(document));
            terms.sort_unstable();
            for same in terms.chunk_by(|a, b| a == b) {
                matrix.columns.push(i64::from(same[0]));
                matrix.counts.push(same.len() as i64);
            }
            matrix.row_ends.push(matrix.columns.len() as i64);
        }
    }
    matrix.sort_columns(&lexicon);
    Ok(matrix)
}

/// Whether a row of compressed rows names a column twice. A column that is out of range repeats nothing.
pub fn repeats<I: Copy + TryInto<usize>>(row_ends: &[I], columns: &[I], width: usize) -> bool {
    let mut last = vec![u32::MAX; width];
    let mut start = 0;
    row_ends.iter().zip(0..).any(|(&end, row)| {
        let end = end.try_into().unwrap_or(0).clamp(start, columns.len());
        let cells = &columns[start..end];
        start = end;
        cells.iter().any(|&column| {
            let last = column.try_into().ok().and_then(|column| last.get_mut(column));
            last.is_some_and(|last| std::mem::replace(last, row) == row)
        })
    })
}

impl Matrix {
    /// Number the columns by the names of their terms.
    fn sort_columns(&mut self, lexicon: &Lexicon) {
        let mut counted = vec![false; lexicon.nodes as usize];
        self.columns.iter().for_each(|&node| counted[node as usize] = true);
        let names = lexicon.names();
        let mut sorted: Vec<usize> = (0..names.len()).filter(|&node| counted[node]).collect();
        sorted.sort_unstable_by(|&a, &b| names[a].cmp(&names[b]));
        let mut rank = vec![0; names.len()];
        for (column, &node) in sorted.iter().enumerate() {
            rank[node] = column as i64;
            self.names.extend_from_slice(&names[node]);
            self.name_ends.push(self.names.len() as u64);
        }
        let mut start = 0;
        for &end in &self.row_ends {
            let row = start..end as usize;
            start = row.end;
            let cells = self.columns[row.clone()].iter().map(|&node| rank[node as usize]);
            let mut cells: Vec<(i64, i64)> = cells.zip(self.counts[row.clone()].iter().copied()).collect();
            cells.sort_unstable();
            for (at, (column, count)) in row.zip(cells) {
                self.columns[at] = column;
                self.counts[at] = count;
            }
        }
    }
}

impl Lexicon {
    /// The name of every node: its bytes, or its words with spaces between them.
    fn names(&self) -> Vec<Vec<u8>> {
        let mut names = vec![Vec::new(); self.nodes as usize];
        self.forms.table.for_each(|bytes, node| names[node as usize] = bytes.to_vec());
        for (node, pair) in self.pairs_by_node().into_iter().enumerate() {
            if let Some((left, right)) = pair {
                names[node] = [&names[left as usize][..], b" ", &names[right as usize][..]].concat();
            }
        }
        names
    }
}

#[cfg(test)]
mod tests {
    use super::repeats;

    #[test]
    fn a_column_repeats_only_within_a_row() {
        assert!(!repeats(&[2, 3], &[1, 0, 1], 2));
        assert!(repeats(&[1, 3], &[1, 0, 0], 2));
    }

    #[test]
    fn broken_rows_are_read_as_far_as_they_go() {
        assert!(!repeats(&[9_i64, -3], &[7, -1, 7], 2));
        assert!(repeats(&[9_i64, -3], &[1, 1], 2));
    }
}
