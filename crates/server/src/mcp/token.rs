//! The secret that a client over HTTP must know.

use std::{fs, io::Read as _, os::unix::fs::PermissionsExt as _, path::Path};

use super::ServeError;

/// A secret. Never shown.
#[derive(Clone)]
pub struct Token(Vec<u8>);

const LEAST: usize = 16;
const MOST: u64 = 4096;

impl Token {
    /// Reads the secret from a file that nobody else can read. Space around it does not count.
    pub fn read(path: &Path) -> Result<Token, ServeError> {
        let refused =
            |reason: String, remedy| ServeError::Token { path: path.to_owned(), reason, remedy };
        let broken = |error: std::io::Error| refused(error.to_string(), "check the path");
        let file = fs::File::open(path).map_err(broken)?;
        let mode = file.metadata().map_err(broken)?.permissions().mode();
        if mode & 0o077 != 0 {
            return Err(refused("others can read or write it".into(), "use `chmod 600`"));
        }
        let mut text = String::new();
        file.take(MOST).read_to_string(&mut text).map_err(broken)?;
        let token = text.trim();
        let sound = token.len() >= LEAST && token.bytes().all(|byte| byte.is_ascii_graphic());
        match sound {
            true => Ok(Token(token.as_bytes().to_vec())),
            false => Err(refused(
                format!("a token has at least {LEAST} letters or digits and no space in it"),
                "write for example the output of `openssl rand -hex 32` to it",
            )),
        }
    }

    /// Whether this value of an `Authorization` header shows the secret. Takes the same time for
    /// every wrong one of the same length.
    pub(super) fn is_shown_by(&self, header: &[u8]) -> bool {
        let Some((scheme, given)) = header.split_at_checked(7) else { return false };
        let differs = given.len() != self.0.len()
            || given.iter().zip(&self.0).fold(0, |all, (a, b)| all | (a ^ b)) != 0;
        scheme.eq_ignore_ascii_case(b"bearer ") && !differs
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_secret_opens() {
        let token = Token(b"0123456789abcdef".to_vec());
        assert!(token.is_shown_by(b"Bearer 0123456789abcdef"));
        assert!(token.is_shown_by(b"bearer 0123456789abcdef"));
        for wrong in ["", "Bearer", "Bearer ", "Bearer 0123456789abcdeF", "Basic  0123456789abcdef"]
        {
            assert!(!token.is_shown_by(wrong.as_bytes()), "{wrong}");
        }
    }

    #[test]
    fn a_token_that_others_can_read_is_none() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("token");
        fs::write(&path, "0123456789abcdef\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(Token::read(&path).unwrap_err().to_string().contains("chmod 600"));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        assert!(Token::read(&path).unwrap().is_shown_by(b"Bearer 0123456789abcdef"));
        fs::write(&path, "short").unwrap();
        assert!(Token::read(&path).is_err());
    }
}
