//! Ordinary e-mail for Python.

use pyo3::prelude::*;

use crate::mail;

type Read = (Vec<(&'static str, String)>, String, String, bool, Vec<String>);

/// What is read of an ordinary mail; None of one that is not.
#[pyfunction]
pub fn read_mail(raw: &[u8]) -> Option<Read> {
    let mail = mail::read(raw)?;
    Some((mail.headers, mail.received, mail.types, mail.html_only, mail.texts))
}
