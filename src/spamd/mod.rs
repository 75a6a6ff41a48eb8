//! SPAMD connections, from the first byte to the last, in a thread of their own. PING, SKIP and ordinary CHECK are
//! answered here; all else is handed over as a whole request, and its answer comes back as bytes.

pub mod answered;
pub mod answers;
mod connection;
mod events;
mod names;
pub mod peers;
mod python_text;
pub mod request;
pub mod server;
