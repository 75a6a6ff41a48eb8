//! Leaving one document out of the event models in which it changes every cell of its terms: complement, whatever
//! has an idf, and Bernoulli's.

use crate::lexicon::bag::Bag;
use crate::score::settings::{Event, Frequency};
use crate::tune::leave_one_out::{LeaveOneOut, Left};
use crate::tune::product::Product;

impl LeaveOneOut<'_> {
    /// The product over all terms of their absence, had each class `less` documents less (of no term in question).
    pub(crate) fn absences(&self, less: f64) -> Vec<Product> {
        let mut absent = vec![Product::default(); self.facts.classes];
        for (class, product) in absent.iter_mut().enumerate() {
            let left = self.facts.class_documents[class] - less;
            if left >= 0.0 {
                let without = self.facts.terms - self.cells_of(class);
                product.times_often(left + self.facts.alpha, without as f64);
            }
        }
        for cell in &self.cells {
            let class = cell.class as usize;
            let left = self.facts.class_documents[class] - less - f64::from(self.counts(*cell).documents);
            if left >= 0.0 {
                absent[class].times(left + self.facts.alpha, 1.0);
            }
        }
        absent
    }

    fn cells_of(&self, class: usize) -> usize {
        let start = if class == 0 { 0 } else { self.facts.class_ends[class - 1] };
        (self.facts.class_ends[class] - start) as usize
    }

    /// The models in which every cell of a document's terms changes: complement, and whatever has an idf.
    pub(crate) fn fill_slowly(&self, bag: &Bag, left: &Left, row: &mut [f64]) {
        let (classes, alpha) = (self.facts.classes, self.facts.alpha);
        let totals = self.totals_without(bag, left);
        let all: f64 = totals.iter().sum();
        let vanished = bag.terms.iter().filter(|&&term| self.holders(term) <= 1).count();
        let smoothing = alpha * (self.facts.terms - vanished) as f64;
        let mut weight = 0.0;
        let mut masses = vec![0.0; classes];
        for (term, times) in bag.pairs() {
            let (value, added) = self.worth(times, left);
            if self.holders(term) <= 1 {
                if self.smooth(vanished) {
                    weight += value;
                    let unseen = value * alpha.ln();
                    let sign = if self.facts.event == Event::Complement { -1.0 } else { 1.0 };
                    row.iter_mut().for_each(|score| *score += sign * unseen);
                }
                continue;
            }
            let idf = self.idf_without(term);
            if idf <= 0.0 {
                continue;
            }
            weight += value * idf;
            self.masses_without(term, added, left.label, idf, &mut masses);
            self.add_logs(term, value * idf, left.label, &masses, row);
        }
        for (class, score) in row.iter_mut().enumerate() {
            let complement = self.facts.event == Event::Complement;
            let total = (if complement { all - totals[class] } else { totals[class] }) + smoothing;
            if weight > 0.0 && total > 0.0 {
                *score += if complement { weight * total.ln() } else { -weight * total.ln() };
            }
        }
    }

    fn add_logs(&self, term: u32, value: f64, label: usize, masses: &[f64], row: &mut [f64]) {
        let alpha = self.facts.alpha;
        if self.facts.event == Event::Multinomial {
            row.iter_mut().zip(masses).for_each(|(score, mass)| *score += value * (mass + alpha).ln());
            return;
        }
        let all: f64 = masses.iter().sum();
        let mut documents = vec![0; row.len()];
        self.cells(term)
            .iter()
            .for_each(|&cell| documents[cell.class as usize] = self.counts(cell).documents);
        for (class, score) in row.iter_mut().enumerate() {
            let own = documents[class] - u32::from(class == label);
            let elsewhere = self.holders(term) - 1 - own > 0;
            let mass = if elsewhere { (all - masses[class]).max(0.0) } else { 0.0 };
            *score -= value * (mass + alpha).ln();
        }
    }

    fn idf_without(&self, term: u32) -> f64 {
        if self.facts.frequency != Frequency::TfIdf {
            return 1.0;
        }
        let others: f64 = self.facts.class_documents.iter().sum::<f64>() - 1.0;
        others.max(1.0).ln() - f64::from(self.holders(term) - 1).ln()
    }

    /// The masses of a term in all classes, the document left out, times idf.
    fn masses_without(&self, term: u32, added: f64, label: usize, idf: f64, masses: &mut [f64]) {
        masses.fill(0.0);
        for &cell in self.cells(term) {
            let counts = self.counts(cell);
            let mass = match (cell.class as usize == label, counts.documents) {
                (true, 1) => 0.0,
                (true, _) => counts.mass - added,
                (false, _) => counts.mass,
            };
            masses[cell.class as usize] = mass * idf;
        }
    }

    /// The sums of the masses of each class, the document left out.
    fn totals_without(&self, bag: &Bag, left: &Left) -> Vec<f64> {
        let mut totals = self.totals.clone();
        if self.facts.frequency != Frequency::TfIdf {
            let lost = bag.times.iter().map(|&times| self.worth(times, left).1);
            totals[left.label] -= lost.sum::<f64>();
            return totals;
        }
        let others = (self.facts.class_documents.iter().sum::<f64>() - 1.0).max(1.0).ln();
        for (total, idf_total) in totals.iter_mut().zip(&self.idf_totals) {
            *total = *total * others - idf_total;
        }
        let mut masses = vec![0.0; self.facts.classes];
        for (term, times) in bag.pairs() {
            let before = others - f64::from(self.holders(term)).ln();
            for &cell in self.cells(term) {
                totals[cell.class as usize] -= self.counts(cell).mass * before;
            }
            if self.holders(term) > 1 {
                let (_, added) = self.worth(times, left);
                self.masses_without(term, added, left.label, self.idf_without(term), &mut masses);
                totals.iter_mut().zip(&masses).for_each(|(total, mass)| *total += mass);
            }
        }
        totals
    }

    pub(crate) fn fill_bernoulli(&self, bag: &Bag, left: &Left, row: &mut [f64]) {
        let alpha = self.facts.alpha;
        let vanished = bag.terms.iter().filter(|&&term| self.holders(term) <= 1).count();
        let kept = (self.facts.terms - vanished) as f64;
        let left_in =
            |class: usize| self.facts.class_documents[class] - f64::from(u8::from(class == left.label));
        let mut products = self.absent.clone();
        products[left.label] = self.absent_one_less[left.label];
        let mut documents = vec![0.0; row.len()];
        for &term in &bag.terms {
            documents.fill(0.0);
            for &cell in self.cells(term) {
                documents[cell.class as usize] = f64::from(self.counts(cell).documents);
            }
            for (class, (product, &documents)) in products.iter_mut().zip(&documents).enumerate() {
                let n = left_in(class);
                if n >= documents {
                    product.times(n - documents + alpha, -1.0);
                }
                if self.holders(term) > 1 {
                    let mine = f64::from(u8::from(class == left.label));
                    product.times(documents - mine + alpha, 1.0);
                }
            }
        }
        let unseen = if self.smooth(vanished) { vanished as f64 } else { 0.0 };
        for (class, (score, product)) in row.iter_mut().zip(&products).enumerate() {
            let total = (left_in(class) + 2.0 * alpha).max(f64::MIN_POSITIVE).ln();
            *score = product.value() - kept * total;
            if unseen > 0.0 {
                *score += unseen * (alpha.ln() - total);
            }
        }
    }
}
