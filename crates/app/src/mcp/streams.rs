//! The process's standard streams, as fast as what they are connected to allows.
//!
//! Clients that start a server give it pipes or, when they run on Node, sockets. Both can be
//! waited for without a thread, which halves the time of a call; anything else (a terminal, a
//! file, another system) is read and written by threads of the runtime.

use tokio::io::{AsyncRead, AsyncWrite};

pub type Reader = Box<dyn AsyncRead + Send + Unpin>;
pub type Writer = Box<dyn AsyncWrite + Send + Unpin>;

/// Standard input. To be called inside the runtime.
pub fn reader() -> Reader {
    #[cfg(unix)]
    if let Some(socket) = unix::socket(std::io::stdin()) {
        return Box::new(socket);
    }
    #[cfg(target_os = "linux")]
    if let Ok(pipe) = tokio::net::unix::pipe::OpenOptions::new().open_receiver("/proc/self/fd/0") {
        return Box::new(pipe);
    }
    Box::new(tokio::io::stdin())
}

/// Standard output. To be called inside the runtime.
pub fn writer() -> Writer {
    #[cfg(unix)]
    if let Some(socket) = unix::socket(std::io::stdout()) {
        return Box::new(socket);
    }
    // Opened anew, so that only this process finds the pipe not waiting.
    #[cfg(target_os = "linux")]
    if let Ok(pipe) = tokio::net::unix::pipe::OpenOptions::new().open_sender("/proc/self/fd/1") {
        return Box::new(pipe);
    }
    Box::new(tokio::io::stdout())
}

#[cfg(unix)]
mod unix {
    use std::fs::File;
    use std::os::fd::AsFd;
    use std::os::unix::fs::FileTypeExt;
    use std::os::unix::net::UnixStream;

    /// The stream as a socket, if it is one. A socket cannot be opened anew; this end of it is
    /// the process's own, and nothing is started here that would inherit it.
    pub fn socket(stream: impl AsFd) -> Option<tokio::net::UnixStream> {
        let file = File::from(stream.as_fd().try_clone_to_owned().ok()?);
        if !file.metadata().ok()?.file_type().is_socket() {
            return None;
        }
        let socket = UnixStream::from(std::os::fd::OwnedFd::from(file));
        socket.set_nonblocking(true).ok()?;
        tokio::net::UnixStream::from_std(socket).ok()
    }
}
