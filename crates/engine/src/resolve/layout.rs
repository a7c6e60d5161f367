//! Where things are for the program: fixed places in a box, a directory of its own without one.

use std::{
    path::PathBuf,
    sync::atomic::{AtomicU32, Ordering},
};

use fumehood_core::protocol::BOX_UID;

use crate::BackendName;

/// The places a plan speaks of.
pub(crate) struct Layout {
    pub(crate) uid: u32,
    /// The source file.
    pub(crate) code: PathBuf,
    /// The working directory.
    pub(crate) workspace: PathBuf,
    /// What a compilation produces.
    pub(crate) out: PathBuf,
    /// What was compiled, for the run.
    pub(crate) program: PathBuf,
    /// What a toolchain keeps between compilations.
    pub(crate) cache: PathBuf,
    /// Programs of ours.
    pub(crate) helpers: PathBuf,
    pub(crate) home: PathBuf,
    pub(crate) tmp: PathBuf,
}

impl Layout {
    pub(crate) fn new(backend: BackendName) -> Layout {
        let at = |name: &str| PathBuf::from("/").join(name);
        match backend {
            BackendName::Native | BackendName::Docker | BackendName::Podman => Layout {
                uid: BOX_UID,
                code: at("code"),
                workspace: at("workspace"),
                out: at("out"),
                program: at("program"),
                cache: at("cache"),
                helpers: at("fumehood"),
                home: at("home/box"),
                tmp: at("tmp"),
            },
            BackendName::Local => Layout::in_directory(),
        }
    }

    fn in_directory() -> Layout {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let own = std::env::temp_dir().join(format!("fumehood-{}-{number}", std::process::id()));
        Layout {
            uid: rustix::process::geteuid().as_raw(),
            code: own.join("code"),
            workspace: own.join("workspace"),
            out: own.join("out"),
            program: own.join("program"),
            cache: own.join("cache"),
            helpers: own.join("helpers"),
            home: own.join("home"),
            tmp: own.join("tmp"),
        }
    }
}
