//! Products of probabilities from which a factor can be removed, zeros included.

/// A product of probabilities as a sum of logs; factors that are 0 are counted apart, so that they can be removed.
#[derive(Clone, Copy, Default)]
pub struct Product {
    log: f64,
    zeros: i64,
}

impl Product {
    pub fn times(&mut self, factor: f64, sign: f64) {
        if factor > 0.0 {
            self.log += sign * factor.ln();
        } else {
            self.zeros += sign as i64;
        }
    }

    pub fn times_often(&mut self, factor: f64, often: f64) {
        if factor > 0.0 {
            self.log += often * factor.ln();
        } else {
            self.zeros += often as i64;
        }
    }

    pub fn value(&self) -> f64 {
        if self.zeros > 0 { f64::NEG_INFINITY } else { self.log }
    }
}
