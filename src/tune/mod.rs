//! Documents left out of the counts, and weights earned on them.

pub mod by_class;
pub mod count_table;
pub mod features;
pub mod lanes;
pub mod leave_one_out;
pub mod leave_one_out_events;
pub mod loss;
pub mod product;
pub mod shared;
pub mod steps;
pub mod together;
