//! What the headers of a mail say in a few words: sender, and what is odd or telling.

const MANY_RECIPIENTS: usize = 5;

/// The columns that are made of headers.
#[derive(Debug, Default, PartialEq)]
pub struct Headed {
    pub subject: String,
    pub from_name: String,
    pub from_domain: String,
    pub flags: String,
}

/// The columns of headers without encoded words.
pub fn headed(headers: &[(&'static str, String)], of_parts: &[&'static str]) -> Headed {
    let get = |name: &str| headers.iter().find(|(own, _)| *own == name).map(|(_, value)| value.as_str());
    let value = |name: &str| get(name).unwrap_or_default();
    let (sender, subject) = (value("from"), value("subject"));
    let from_domain = domain(sender);
    let mut flags: Vec<&str> = Vec::new();
    for (name, flag) in [
        ("reply-to", "reply-to-differs"),
        ("return-path", "return-path-differs"),
        ("message-id", "message-id-differs"),
    ] {
        if differ(&from_domain, &domain(value(name))) {
            flags.push(flag);
        }
    }
    for (name, flag) in
        [("subject", "no-subject"), ("date", "no-date"), ("message-id", "no-message-id"), ("to", "no-to")]
    {
        if value(name).is_empty() {
            flags.push(flag);
        }
    }
    if value("to").matches('@').count() + value("cc").matches('@').count() >= MANY_RECIPIENTS {
        flags.push("many-recipients");
    }
    if get("list-id").or(get("list-unsubscribe")).is_some() {
        flags.push("list");
    }
    if subject.bytes().any(|byte| byte.is_ascii_uppercase())
        && !subject.bytes().any(|byte| byte.is_ascii_lowercase())
    {
        flags.push("capitals");
    }
    flags.extend(of_parts);
    Headed {
        subject: subject.to_owned(),
        from_name: shown_name(sender).to_owned(),
        from_domain,
        flags: flags.join(" "),
    }
}

fn shown_name(sender: &str) -> &str {
    let name = match sender.split_once('<') {
        Some((name, _)) => name,
        None => {
            let behind = sender.split_once('(').map_or("", |(_, behind)| behind);
            behind.rsplit_once(')').map_or("", |(name, _)| name)
        }
    };
    name.trim_matches(['"', '\'', ' '])
}

fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

/// The domain behind the first @ that has one, in lower case.
fn domain(address: &str) -> String {
    for (at, _) in address.match_indices('@') {
        let rest = &address.as_bytes()[at + 1..];
        let mut end = rest.iter().take_while(|&&byte| is_part(byte)).count();
        if end == 0 {
            continue;
        }
        while rest.get(end) == Some(&b'.') {
            let more = rest[end + 1..].iter().take_while(|&&byte| is_part(byte)).count();
            if more == 0 {
                break;
            }
            end += 1 + more;
        }
        return address[at + 1..at + 1 + end].to_ascii_lowercase();
    }
    String::new()
}

/// Whether both are known and neither is part of the other.
fn differ(first: &str, second: &str) -> bool {
    !first.is_empty() && !second.is_empty() && !first.ends_with(second) && !second.ends_with(first)
}
