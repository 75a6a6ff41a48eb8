//! The core end to end, held against sums written out: counting, restoring, scoring, leaving out (L3). Documents are
//! letters of a small alphabet, and their terms all bytes and all pairs of neighbors.

#![allow(clippy::expect_used, reason = "a test may fail")]

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;

use crate::analyze::reader::{Analysis, Document};
use crate::context::{Context, Labeled};
use crate::score::linear::Linear;
use crate::score::living::Living;
use crate::score::settings::{ByClass, Event, Frequency, Settings};
use crate::score::{Scorer, Value};
use crate::tally::Tally;
use crate::tally::division::Division;
use crate::tally::export::{Arrays, Wanted, export};
use crate::tally::restore::Column;
use crate::tally::sum::{Addend, Documents, sum};
use crate::tune::leave_one_out::{Facts, LeaveOneOut};

const ANALYSIS: Analysis = Analysis::Bytes { bases: false, shortest: 1, longest: 2 };
const ALL: Wanted = Wanted { documents: true, occurrences: true, shares: true };
const CONTEXT: Context = Context { analysis: &ANALYSIS, normalizer: None, interrupted: &|| false };

type Corpus = Vec<(Vec<u8>, u32)>;
/// (class, term) to documents, occurrences and shares.
type Counted = BTreeMap<(usize, Vec<u8>), (u64, u64, u128)>;

fn corpora(classes: u32) -> impl Strategy<Value = Corpus> {
    let text = prop::collection::vec(prop::sample::select(b"abcde".to_vec()), 0..9);
    prop::collection::vec((text, 0..classes), 1..14)
}

fn documents(labeled: &[(Vec<u8>, u32)]) -> Vec<Document<'_>> {
    labeled.iter().map(|(bytes, _)| Document { bytes, trusted: true }).collect()
}

fn labels(labeled: &[(Vec<u8>, u32)]) -> Vec<u32> {
    labeled.iter().map(|&(_, label)| label).collect()
}

fn of<'a>(documents: &'a [Document<'a>], classes: &'a [u32]) -> Labeled<'a> {
    Labeled { documents, classes }
}

fn learned(labeled: &[(Vec<u8>, u32)]) -> Tally {
    let mut tally = Tally::default();
    tally.add(&CONTEXT, of(&documents(labeled), &labels(labeled)), 1, &mut ()).expect("bytes can be counted");
    tally
}

fn terms(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.windows(1).chain(text.windows(2))
}

fn counted_by_hand(labeled: &[(Vec<u8>, u32)]) -> Counted {
    let mut counts = Counted::new();
    for (text, label) in labeled {
        let length = terms(text).count() as u128;
        let mut seen = Vec::new();
        for term in terms(text) {
            let cell = counts.entry((*label as usize, term.to_vec())).or_default();
            cell.0 += u64::from(!seen.contains(&term));
            cell.1 += 1;
            cell.2 += (1u128 << 64) / length;
            seen.push(term);
        }
    }
    counts
}

fn arrays(tally: &mut Tally, classes: u32) -> (Arrays, Vec<u32>) {
    export(tally, &(0..classes).collect::<Vec<_>>(), ALL)
}

fn sum_of(addends: [(&Arrays, &[u32]); 2], classes: usize, documents: Documents) -> Arrays {
    let [left, right] = addends.map(|(arrays, classes)| (arrays.stored(), classes));
    let addends = [&left, &right].map(|(stored, classes)| Addend { stored, classes });
    sum(addends, classes, documents).expect("there is room")
}

/// The n-th word of the arrays; a term of bytes is a word.
fn word(arrays: &Arrays, term: u32) -> Vec<u8> {
    let node = arrays.terms[term as usize] as usize;
    let start = if node == 0 { 0 } else { arrays.word_ends[node - 1] };
    arrays.words[start as usize..arrays.word_ends[node] as usize].to_vec()
}

fn counted(arrays: &Arrays) -> Counted {
    let (mut counts, mut start) = (Counted::new(), 0);
    let stored = arrays.stored();
    for (class, &end) in arrays.class_ends.iter().enumerate() {
        for i in start..end as usize {
            let shares = u128::from(stored.shares_whole.get(i)) << 64 | u128::from(stored.shares_part.get(i));
            let cell = (stored.documents.get(i), stored.occurrences.get(i), shares);
            counts.insert((class, word(arrays, arrays.term[i])), cell);
        }
        start = end as usize;
    }
    counts
}

/// log (count + 1) / (total + terms) of each class for a term, from counts by hand.
fn log_share(counts: &Counted, class: usize, term: &[u8]) -> f64 {
    let total: u64 = counts.iter().filter(|((j, _), _)| *j == class).map(|(_, cell)| cell.1).sum();
    let mut vocabulary: Vec<&[u8]> = counts.keys().map(|(_, term)| &term[..]).collect();
    vocabulary.sort_unstable();
    vocabulary.dedup();
    let count = counts.get(&(class, term.to_vec())).map_or(0, |cell| cell.1);
    ((count + 1) as f64 / (total as usize + vocabulary.len()) as f64).ln()
}

fn is_known(counts: &Counted, term: &[u8]) -> bool {
    counts.keys().any(|(_, known)| known == term)
}

fn score_by_hand(counts: &Counted, class: usize, text: &[u8]) -> f64 {
    terms(text).filter(|term| is_known(counts, term)).map(|term| log_share(counts, class, term)).sum()
}

fn is_near(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-9 * expected.abs().max(1.0)
}

proptest! {
    #[test]
    fn what_is_counted_is_what_is_there(labeled in corpora(3)) {
        let (arrays, _) = arrays(&mut learned(&labeled), 3);
        prop_assert_eq!(counted(&arrays), counted_by_hand(&labeled));
        let of_class = |class| labeled.iter().filter(|&&(_, label)| label == class).count() as u64;
        prop_assert_eq!(&arrays.class_documents, &(0..3).map(of_class).collect::<Vec<_>>());
    }

    #[test]
    fn what_is_taken_back_was_never_there(labeled in corpora(3), cut in 0usize..14) {
        let (kept, taken) = labeled.split_at(cut.min(labeled.len()));
        let mut tally = learned(&labeled);
        tally.subtract(&CONTEXT, of(&documents(taken), &labels(taken)), &mut ()).expect("it was learned");
        prop_assert_eq!(arrays(&mut tally, 3).0, arrays(&mut learned(kept), 3).0);
    }

    #[test]
    fn what_was_not_learned_is_refused_and_changes_nothing(labeled in corpora(3)) {
        let mut tally = learned(&labeled);
        let before = arrays(&mut tally, 3).0;
        let stranger = [(b"zz".to_vec(), 0)];
        prop_assert!(tally.subtract(&CONTEXT, of(&documents(&stranger), &labels(&stranger)), &mut ()).is_err());
        prop_assert_eq!(arrays(&mut tally, 3).0, before);
    }

    #[test]
    fn a_restored_tally_is_the_one_that_was_exported(labeled in corpora(3)) {
        let (exported, _) = arrays(&mut learned(&labeled), 3);
        let stored = exported.stored();
        let (lexicon, classes) = (stored.lexicon(1), stored.classes());
        let mut restored = Tally::restored(lexicon.expect("it was written by a tally"), Box::new(|| classes));
        prop_assert_eq!(&arrays(&mut restored, 3).0, &exported);
        restored.add(&CONTEXT, of(&documents(&labeled), &labels(&labeled)), 1, &mut ()).expect("more can be counted");
        let twice = [&labeled[..], &labeled[..]].concat();
        prop_assert_eq!(arrays(&mut restored, 3).0, arrays(&mut learned(&twice), 3).0);
    }

    #[test]
    fn arrays_add_up_to_those_of_all_documents(left in corpora(3), right in corpora(4)) {
        let (ours, theirs) = (arrays(&mut learned(&left), 3).0, arrays(&mut learned(&right), 4).0);
        let found = sum_of([(&ours, &[0, 1, 2]), (&theirs, &[0, 1, 2, 3])], 4, Documents::Different);
        let all = arrays(&mut learned(&[left, right].concat()), 4).0;
        prop_assert_eq!(counted(&found), counted(&all));
        let same = |arrays: &Arrays| (arrays.words.clone(), arrays.terms.clone(), arrays.class_documents.clone());
        prop_assert_eq!(same(&found), same(&all));
    }

    #[test]
    fn parts_of_arrays_have_all_documents_and_add_up_to_the_whole(labeled in corpora(3), parts in 1u32..6) {
        let whole = arrays(&mut learned(&labeled), 3).0;
        let division = Division::new(&whole.stored(), parts);
        let mut total = division.part(&whole.stored(), 0);
        for part in 1..parts as usize {
            let own = division.part(&whole.stored(), part);
            prop_assert!(own.stored().check_all().is_ok());
            prop_assert_eq!(&own.class_documents, &whole.class_documents);
            let terms = total.terms.len() + own.terms.len();
            total = sum_of([(&total, &[0, 1, 2]), (&own, &[0, 1, 2])], 3, Documents::Same);
            prop_assert_eq!(total.terms.len(), terms);
        }
        prop_assert_eq!(counted(&total), counted(&whole));
        prop_assert_eq!((total.words, total.class_documents), (whole.words, whole.class_documents));
    }

    #[test]
    fn a_score_is_the_sum_of_the_weights_of_the_terms_that_are_known(
        labeled in corpora(12), asked in corpora(1), classes in prop::sample::select(vec![2u32, 3, 12]),
    ) {
        let labeled: Corpus = labeled.into_iter().map(|(text, label)| (text, label % classes)).collect();
        let mut tally = learned(&labeled);
        let (exported, nodes) = arrays(&mut tally, classes);
        let counts = counted_by_hand(&labeled);
        let kept = Arc::new(Kept::new(&exported, &counts, classes as usize));
        let lent = kept.clone();
        let lender = Box::new(move |visit: &mut (dyn FnMut(&Linear) + Send)| visit(&lent.linear()));
        let scorer = Scorer::new(tally.lexicon().clone(), Value::Count, &kept.linear(), &nodes, lender);
        let scores = scorer.score(&CONTEXT, &documents(&asked), 1).expect("nothing interrupts");
        for ((text, _), row) in asked.iter().zip(scores.chunks_exact(classes as usize)) {
            for (class, &score) in row.iter().enumerate() {
                prop_assert!(is_near(score, score_by_hand(&counts, class, text)), "{score}");
            }
        }
    }

    #[test]
    fn a_document_left_out_is_scored_as_if_it_had_never_been_learned(labeled in corpora(3)) {
        let mut tally = learned(&labeled);
        let (exported, nodes) = arrays(&mut tally, 3);
        let lexicon = tally.lexicon().clone();
        let mut place = vec![u32::MAX; lexicon.nodes as usize];
        (0..).zip(&nodes).for_each(|(term, &node)| place[node as usize] = term);
        let facts = Facts {
            event: Event::Multinomial,
            frequency: Frequency::Count,
            alpha: 1.0,
            smooth: false,
            all_terms: true,
            classes: 3,
            terms: nodes.len(),
            class_ends: exported.class_ends.iter().map(|&end| end as u32).collect(),
            term: exported.term.as_slice().into(),
            documents: exported.documents.column().narrow().expect("they are numbers of 32 bits"),
            mass: exported.occurrences.column().iter().map(|times| times as f64).collect(),
            class_documents: exported.class_documents.iter().map(|&n| n as f64).collect(),
        };
        let (asked, labels) = (documents(&labeled), labels(&labeled));
        let found = LeaveOneOut::new(facts).score(&CONTEXT, (&*lexicon, &place), &asked, &labels, 1);
        let found = found.expect("nothing interrupts");
        for i in 0..labeled.len() {
            let others = [&labeled[..i], &labeled[i + 1..]].concat();
            let counts = counted_by_hand(&others);
            for class in 0..3 {
                let expected = score_by_hand(&counts, class, &labeled[i].0);
                prop_assert!(is_near(found[i * 3 + class], expected), "{i} {class}");
            }
        }
    }
}

/// Weights made of counts by hand, in the columns of an export.
struct Kept {
    zeros: Vec<f64>,
    base: Vec<f64>,
    class_ends: Vec<u64>,
    term: Vec<u32>,
    differences: Vec<f64>,
}

impl Kept {
    fn new(arrays: &Arrays, counts: &Counted, classes: usize) -> Self {
        let base: Vec<f64> = (0..classes).map(|class| log_share(counts, class, b"never")).collect();
        let mut differences = Vec::new();
        for (class, base) in base.iter().enumerate() {
            let start = if class == 0 { 0 } else { arrays.class_ends[class - 1] };
            for &term in &arrays.term[start as usize..arrays.class_ends[class] as usize] {
                differences.push(log_share(counts, class, &word(arrays, term)) - base);
            }
        }
        let (class_ends, term) = (arrays.class_ends.clone(), arrays.term.clone());
        Self { zeros: vec![0.0; classes], base, class_ends, term, differences }
    }

    fn linear(&self) -> Linear<'_> {
        Linear {
            bias: &self.zeros,
            base: &self.base,
            unseen: None,
            offset: None,
            scale: None,
            class_ends: Column::U64(&self.class_ends),
            term: Column::U32(&self.term),
            differences: &self.differences,
        }
    }
}

fn every_setting() -> Vec<Settings> {
    let mut all = Vec::new();
    for event in [Event::Multinomial, Event::Complement, Event::Bernoulli, Event::Earned] {
        for frequency in [Frequency::Count, Frequency::Binary, Frequency::Normalized, Frequency::TfIdf] {
            for (alpha, smooth, least) in [(1.0, false, 1), (0.3, true, 2)] {
                all.push(Settings {
                    event,
                    frequency,
                    alpha,
                    smooth,
                    least,
                    most: u64::MAX,
                    dropped: Vec::new(),
                    weights: Vec::new(),
                    groups: vec![1.0, 0.25],
                    shortest: 1,
                    by_class: ByClass::default(),
                });
            }
        }
    }
    all
}

/// The scores of texts in the classes below `classes`, by rows that are made now or that followed.
fn asked(living: &mut Living, settings: &Arc<Settings>, texts: &[(Vec<u8>, u32)], classes: u32) -> Vec<u64> {
    let order: Vec<u32> = (0..classes).collect();
    living.make_ready(settings, &order).expect("there are counts");
    let scores = living.score(&CONTEXT, &documents(texts), 1).expect("bytes can be read");
    scores.iter().map(|score| score.to_bits()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn rows_that_followed_the_counts_have_the_bits_of_rows_made_anew(
        first in corpora(12), second in corpora(12), texts in corpora(1), few in any::<bool>(),
    ) {
        let classes = if few { 3 } else { 12 };
        let narrow = |corpus: Corpus| -> Corpus {
            corpus.into_iter().map(|(text, label)| (text, label % classes)).collect()
        };
        let (first, second) = (narrow(first), narrow(second));
        for settings in every_setting().into_iter().map(Arc::new) {
            let mut living = Living::new(learned(&first));
            asked(&mut living, &settings, &texts, classes);
            for labeled in second.chunks(1) {
                living.add(&CONTEXT, of(&documents(labeled), &labels(labeled)), 1).expect("it can be counted");
            }
            asked(&mut living, &settings, &texts, classes);
            living.subtract(&CONTEXT, of(&documents(&first), &labels(&first))).expect("it was counted");
            let mut anew = Living::new(learned(&second));
            let found = asked(&mut living, &settings, &texts, classes);
            prop_assert_eq!(found, asked(&mut anew, &settings, &texts, classes), "{:?}", &settings);
        }
    }

    #[test]
    fn rows_add_up_to_the_sum_by_hand(labeled in corpora(3), more in corpora(3)) {
        let settings = Arc::new(every_setting().remove(0));
        let mut living = Living::new(learned(&labeled));
        asked(&mut living, &settings, &labeled, 3);
        living.add(&CONTEXT, of(&documents(&more), &labels(&more)), 1).expect("it can be counted");
        let all: Corpus = labeled.iter().chain(&more).cloned().collect();
        let counts = counted_by_hand(&all);
        for (text, scores) in all.iter().zip(asked(&mut living, &settings, &all, 3).chunks_exact(3)) {
            for (class, &score) in scores.iter().enumerate() {
                let expected: f64 = terms(&text.0).map(|term| log_share(&counts, class, term)).sum();
                prop_assert!(is_near(f64::from_bits(score), expected), "{class} {expected}");
            }
        }
    }
}
