//! Ordinary e-mail for Python.

use pyo3::prelude::*;

use crate::mail;

type Headed = (String, String, String, String);
type Read = (
    Option<Headed>,
    Vec<(&'static str, String)>,
    String,
    String,
    Vec<&'static str>,
    String,
    Vec<(String, bool)>,
);

/// What is read of an ordinary mail; None of one that is not.
#[pyfunction]
pub fn read_mail(raw: &[u8]) -> Option<Read> {
    let mail = mail::read(raw)?;
    let headed = mail.headed.map(|own| (own.subject, own.from_name, own.from_domain, own.flags));
    let texts = mail.texts.into_iter().map(|seen| (seen.text, seen.references)).collect();
    Some((headed, mail.headers, mail.received, mail.types, mail.flags, mail.links, texts))
}
