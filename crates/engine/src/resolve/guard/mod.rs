//! What of the caller's files a policy hides or protects, as paths inside the box.

mod watch;

pub(crate) use self::watch::Watch;
