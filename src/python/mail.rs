//! Ordinary e-mail for Python.

use pyo3::prelude::*;

use crate::mail;

/// Subject, name and domain of the sender, flags, hosts, types, links, body.
type Columns = (String, String, String, String, String, String, String, String);
/// What is left to be read: headers, flags of parts, texts with character references.
type Left = (Vec<(&'static str, String)>, Vec<&'static str>, Vec<(String, bool)>);

/// The columns of an ordinary mail, and what is left for others to read of it; None of one that is not.
#[pyfunction]
pub fn read_mail(raw: &[u8]) -> Option<(Columns, Option<Left>)> {
    let mut mail = mail::read(raw)?;
    let body = mail.body();
    let is_read = mail.headed.is_some() && body.is_some();
    let headed = mail.headed.unwrap_or_default();
    let texts = mail.texts.into_iter().map(|seen| (seen.text, seen.references)).collect();
    let left = (!is_read).then_some((mail.headers, mail.flags, texts));
    let mail::Headed { subject, from_name, from_domain, flags } = headed;
    let columns = (
        subject,
        from_name,
        from_domain,
        flags,
        mail.received,
        mail.types,
        mail.links,
        body.unwrap_or_default(),
    );
    Some((columns, left))
}
