//! Documents in batches, which are read at a time, and in parts, one for each thread.

use crate::errors::TallyError;
use std::io;
use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{Builder, JoinHandle};

use crate::analyze::reader::Document;
use crate::memory::zeros;

/// More are never started, whatever is asked for.
pub const MOST_THREADS: usize = 256;

/// Cut `order` into ranges of documents of about `most` bytes in all.
pub fn ranges<'a>(
    documents: &'a [Document],
    order: &'a [u32],
    most: usize,
) -> impl Iterator<Item = Range<usize>> + 'a {
    let mut start = 0;
    std::iter::from_fn(move || {
        let mut end = start;
        let mut bytes = 0;
        while end < order.len() && bytes < most {
            bytes += documents[order[end] as usize].bytes.len() + 1;
            end += 1;
        }
        let range = start..end;
        start = end;
        (!range.is_empty()).then_some(range)
    })
}

/// Cut `order` into parts of about equal bytes, but not into more than there are documents.
pub fn split<'a>(documents: &[Document], order: &'a [u32], parts: usize) -> Vec<&'a [u32]> {
    let parts = parts.clamp(1, order.len().clamp(1, MOST_THREADS));
    let total: usize = documents.iter().map(|document| document.bytes.len() + 1).sum();
    let mut rest = order;
    let mut cuts = Vec::with_capacity(parts);
    for left in (1..=parts).rev() {
        let goal = total / parts;
        let mut bytes = 0;
        let end = rest.iter().position(|&document| {
            bytes += documents[document as usize].bytes.len() + 1;
            bytes > goal
        });
        let end = if left == 1 { rest.len() } else { end.unwrap_or(rest.len()) };
        let (part, others) = rest.split_at(end);
        cuts.push(part);
        rest = others;
    }
    cuts
}

/// Some numbers for each document, in order.
pub type ForEach<T> = Result<Vec<T>, TallyError>;

/// Some numbers for each document, in order; each thread fills in those of a part of the documents.
pub fn for_each_document<T: Copy + Default + Send>(
    documents: &[Document],
    numbers: usize,
    threads: usize,
    fill: impl Fn(&[u32], &mut [T]) -> Result<(), TallyError> + Sync,
) -> ForEach<T> {
    let order: Vec<u32> = (0..documents.len() as u32).collect();
    let mut all = zeros(documents.len(), numbers)?;
    let mut rest = &mut all[..];
    let mut own = |part: &[u32]| rest.split_off_mut(..part.len() * numbers).unwrap_or_default();
    let parts = split(documents, &order, threads);
    let pieces: Vec<_> = parts.into_iter().map(|part| (part, own(part))).collect();
    in_threads(pieces, |(part, own)| fill(part, own)).into_iter().collect::<Result<(), _>>()?;
    Ok(all)
}

/// Do one piece of work on each thread; the results are in the order of the pieces.
pub fn in_threads<P: Send, T: Send>(
    pieces: impl IntoIterator<Item = P>,
    work: impl Fn(P) -> T + Sync,
) -> Vec<T> {
    let mut pieces = pieces.into_iter();
    let Some(first) = pieces.next() else { return Vec::new() };
    let Some(second) = pieces.next() else { return vec![work(first)] };
    std::thread::scope(|scope| {
        let work = &work;
        let others = std::iter::once(second).chain(pieces);
        let others: Vec<_> = others.map(|piece| scope.spawn(move || work(piece))).collect();
        let mut results = vec![work(first)];
        for thread in others {
            match thread.join() {
                Ok(result) => results.push(result),
                Err(panic) => resume_unwind(panic),
            }
        }
        results
    })
}

/// Work on pieces with so many threads, each taking the next when it is done; the results are in the order of the
/// pieces.
pub fn in_order<P: Sync, T: Send>(pieces: &[P], threads: usize, work: impl Fn(&P) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let workers = threads.clamp(1, pieces.len().clamp(1, MOST_THREADS));
    let done = in_threads(0..workers, |_| {
        let mut done = Vec::new();
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            let Some(piece) = pieces.get(i) else { return done };
            done.push((i, work(piece)));
        }
    });
    let mut results: Vec<(usize, T)> = done.into_iter().flatten().collect();
    results.sort_by_key(|&(i, _)| i);
    results.into_iter().map(|(_, result)| result).collect()
}

/// Start a thread that goes on beside its caller.
pub fn beside(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    Builder::new().name(name.to_owned()).spawn(work)
}
