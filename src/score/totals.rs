//! What each class adds up to, in whole numbers, so that no history leaves a trace, and the few numbers a score needs
//! of them.

use std::collections::BTreeMap;

use crate::score::settings::{Event, Frequency, Settings};
use crate::tally::cells::{Cell, ClassCounts};

/// Logarithms in whole units of 2^-52.
const UNIT: f64 = (1u64 << 52) as f64;

pub fn fixed_log(number: u64) -> u64 {
    ((number.max(1) as f64).ln() * UNIT).round() as u64
}

/// log(all / holders).
pub fn idf(all: u64, holders: u64) -> f64 {
    all.saturating_sub(fixed_log(holders)) as f64 / UNIT
}

/// A sum of shares in units of 2^-64, maybe times logarithms: the upper and the lower 32 bits of each share are
/// summed apart, because a product of both would not fit.
#[derive(Clone, Copy, Default)]
struct Halves {
    upper: u128,
    lower: u128,
}

impl Halves {
    fn change(&mut self, shares: u128, times: u64, added: bool) {
        let (upper, lower) = ((shares >> 32) * u128::from(times), (shares & 0xFFFF_FFFF) * u128::from(times));
        if added {
            self.upper += upper;
            self.lower += lower;
        } else {
            self.upper -= upper;
            self.lower -= lower;
        }
    }
}

/// The used cells of one class.
#[derive(Clone, Default)]
pub struct Total {
    /// Occurrences, documents or shares, by what is counted.
    mass: u128,
    shares: Halves,
    /// The same, each times the logarithm of the documents that have its term.
    weighted: Halves,
    /// How many terms so many documents have.
    histogram: BTreeMap<u32, u64>,
}

impl Total {
    /// Of occurrences or documents that are known to add up to this.
    pub fn of_mass(mass: u128) -> Self {
        Self { mass, ..Self::default() }
    }

    /// Put one whole number in the place of another.
    #[inline(always)]
    pub fn replace(&mut self, old: u64, new: u64) {
        self.mass = self.mass + u128::from(new) - u128::from(old);
    }

    /// Add a cell, or take it away.
    pub fn change(&mut self, settings: &Settings, cell: &Cell, holders: u64, added: bool) {
        if settings.event == Event::Bernoulli {
            return self.change_histogram(cell.documents, added);
        }
        if settings.is_tf_idf() {
            self.shares.change(cell.shares, 1, added);
            self.weighted.change(cell.shares, fixed_log(holders), added);
            return;
        }
        let mass = mass(settings, cell);
        self.mass = if added { self.mass + mass } else { self.mass - mass };
    }

    fn change_histogram(&mut self, documents: u32, added: bool) {
        let terms = self.histogram.entry(documents).or_default();
        *terms = if added { *terms + 1 } else { *terms - 1 };
        if *terms == 0 {
            self.histogram.remove(&documents);
        }
    }

    /// The sum over the terms, as a number.
    fn mass(&self, settings: &Settings, log_documents: u64) -> f64 {
        if settings.is_tf_idf() {
            let all = u128::from(log_documents);
            let upper = (self.shares.upper * all).saturating_sub(self.weighted.upper);
            let lower = (self.shares.lower * all).saturating_sub(self.weighted.lower);
            return (upper as f64 * 2f64.powi(32) + lower as f64) * 2f64.powi(-64) / UNIT;
        }
        let scale = if settings.frequency == Frequency::Normalized { 2f64.powi(-64) } else { 1.0 };
        self.mass as f64 * scale
    }
}

/// What is counted of a cell.
pub fn mass(settings: &Settings, cell: &Cell) -> u128 {
    match (settings.event, settings.frequency) {
        (Event::Earned | Event::Bernoulli, _) | (_, Frequency::Binary) => cell.documents.into(),
        (_, Frequency::Count) => cell.occurrences.into(),
        (_, Frequency::Normalized | Frequency::TfIdf) => cell.shares,
    }
}

/// What scores need besides the rows of terms: a few numbers a class, by its number in the tally.
#[derive(Default)]
pub struct Numbers {
    /// What every known term adds.
    pub base: Vec<f64>,
    /// What every document gets.
    pub bias: Vec<f64>,
    /// What a term adds that was never learned.
    pub unseen: Option<Vec<f64>>,
    /// Documents of each class, and the logarithm of their sum.
    pub documents: Vec<f64>,
    pub log_documents: u64,
    /// Of how many terms each class has in all its documents, with `alpha` 0 in the Bernoulli model.
    pub always: Vec<u64>,
}

impl Numbers {
    pub fn new(
        settings: &Settings,
        order: &[u32],
        totals: &[Total],
        terms: u64,
        classes: &[ClassCounts],
    ) -> Self {
        let size = order.iter().map(|&class| class as usize + 1).max().unwrap_or(0).max(totals.len());
        let n = |class: usize| classes.get(class).map_or(0, |counts| counts.documents);
        let all: u64 = (0..size).map(n).sum();
        let mut numbers = Self {
            documents: (0..size).map(|class| n(class) as f64).collect(),
            log_documents: fixed_log(all),
            bias: vec![0.0; size],
            ..Self::default()
        };
        let none = Total::default();
        let total = |class: usize| totals.get(class).unwrap_or(&none);
        let masses: Vec<f64> =
            (0..size).map(|class| total(class).mass(settings, numbers.log_documents)).collect();
        match settings.event {
            Event::Multinomial => numbers.multinomial(settings, &masses, terms),
            Event::Complement => numbers.complement(settings, order, &masses, terms),
            Event::Earned => numbers.earned(settings, order, &masses, terms),
            Event::Bernoulli => {
                (0..size).for_each(|class| numbers.bernoulli(settings, total(class), class, terms))
            }
        }
        if !settings.smooth || terms == 0 {
            numbers.unseen = None;
        }
        numbers
    }

    fn multinomial(&mut self, settings: &Settings, masses: &[f64], terms: u64) {
        let smoothing = settings.alpha * terms as f64;
        let log_alpha = if settings.alpha > 0.0 { settings.alpha.ln() } else { 0.0 };
        self.base = masses.iter().map(|mass| log_alpha - log(mass + smoothing)).collect();
        let impossible = settings.alpha == 0.0;
        self.unseen =
            Some(if impossible { vec![f64::NEG_INFINITY; masses.len()] } else { self.base.clone() });
    }

    fn complement(&mut self, settings: &Settings, order: &[u32], masses: &[f64], terms: u64) {
        let all: f64 = order.iter().map(|&class| masses[class as usize]).sum();
        let smoothing = settings.alpha * terms as f64;
        self.base = masses.iter().map(|mass| log(all - mass + smoothing)).collect();
        self.unseen = Some(self.base.iter().map(|base| base - settings.alpha.ln()).collect());
    }

    fn earned(&mut self, settings: &Settings, order: &[u32], masses: &[f64], terms: u64) {
        let smoothing = settings.alpha * terms as f64;
        let logs: Vec<f64> = masses.iter().map(|mass| (mass + smoothing).max(1e-300).ln()).collect();
        let mean = order.iter().map(|&class| logs[class as usize]).sum::<f64>() / order.len().max(1) as f64;
        self.base = logs.iter().map(|log| mean - log).collect();
    }

    fn bernoulli(&mut self, settings: &Settings, total: &Total, class: usize, terms: u64) {
        let (n, alpha) = (self.documents[class], settings.alpha);
        self.always.push(0);
        if alpha == 0.0 {
            self.base.push(0.0);
            self.unseen.get_or_insert_default().push(f64::NEG_INFINITY);
            for (&documents, &terms) in &total.histogram {
                let absent = n - f64::from(documents);
                if absent > 0.0 {
                    self.bias[class] += terms as f64 * (absent.ln() - n.ln());
                } else {
                    self.always[class] += terms;
                }
            }
            return;
        }
        self.base.push(alpha.ln() - (n + alpha).ln());
        self.unseen.get_or_insert_default().push(alpha.ln() - (n + 2.0 * alpha).ln());
        let absences = total.histogram.iter();
        let absence: f64 =
            absences.map(|(&d, &terms)| terms as f64 * log_absence(n - f64::from(d), d.into(), alpha)).sum();
        self.bias[class] = absence - terms as f64 * (alpha / (n + alpha)).ln_1p();
    }
}

/// log (absent + alpha) / (n + alpha); mostly near 0, where a difference of logarithms loses digits.
fn log_absence(absent: f64, present: f64, alpha: f64) -> f64 {
    let total = absent + present + alpha;
    if present < absent { (-present / total).ln_1p() } else { ((absent + alpha) / total).ln() }
}

/// The logarithm of each value's share of all.
pub fn log_shares(values: &[f64]) -> Vec<f64> {
    let all: f64 = values.iter().sum();
    values.iter().map(|value| (value / all).ln()).collect()
}

/// The logarithm, 0 where there is nothing: such classes are ruled out elsewhere.
fn log(value: f64) -> f64 {
    if value > 0.0 { value.ln() } else { 0.0 }
}

/// By how much the logarithm of a smoothed number is above that of none; without smoothing, its logarithm.
pub fn log_of(mass: f64, alpha: f64) -> f64 {
    if alpha > 0.0 {
        (mass + alpha).ln() - alpha.ln()
    } else if mass > 0.0 {
        mass.ln()
    } else {
        0.0
    }
}
