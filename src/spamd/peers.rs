//! Who is at the other end of a Unix socket, as the kernel says.

use super::connection::Stream;

/// The user who opened a connection; None on TCP, and where the system does not tell.
#[cfg(target_os = "linux")]
pub fn uid_of(stream: &Stream) -> Option<u32> {
    use std::os::fd::AsRawFd;
    let Stream::Unix(stream) = stream else { return None };
    let mut found = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut size = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: the socket is open as long as the stream is borrowed, and `size` says how much room there is.
    let failed = unsafe {
        libc::getsockopt(
            stream.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut found).cast(),
            &raw mut size,
        )
    };
    (failed == 0).then_some(found.uid)
}

#[cfg(not(target_os = "linux"))]
pub fn uid_of(_: &Stream) -> Option<u32> {
    None
}
