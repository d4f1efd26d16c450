//! The command lines of `server` and `client`.

use core::net::SocketAddr;
use std::ffi::OsString;

use nebula_multiplayer::transport::quic::Fingerprint;

use super::{Command, HELP, SECONDS_MAX, UsageError, number, text, twice};

/// What `nebula-demo server` is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerOptions {
    /// Where to listen.
    pub listen: SocketAddr,
    /// When to stop, if not when told to.
    pub seconds: Option<u64>,
    /// Whether to stay in the terminal.
    pub headless: bool,
    /// Whether the creatures stand still.
    pub still: bool,
}

/// What `nebula-demo client` is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientOptions {
    /// The server's address.
    pub connect: SocketAddr,
    /// The fingerprint of its certificate.
    pub pin: Option<Fingerprint>,
    /// Who the player is.
    pub account: Option<u64>,
    /// When to stop, if not when told to.
    pub seconds: Option<u64>,
    /// Whether to stay in the terminal.
    pub headless: bool,
}

/// Reads what follows `server` or `client`.
pub(super) fn parse(
    server: bool,
    mut args: impl Iterator<Item = OsString>,
) -> Result<Command, UsageError> {
    let (mut address, mut pin, mut account, mut seconds) = (None, None, None, None);
    let (mut headless, mut still) = (false, false);
    let place = if server { "--listen" } else { "--connect" };
    while let Some(arg) = args.next() {
        let arg = text(arg)?;
        let (flag, attached) = match arg.split_once('=') {
            Some((flag, value)) => (flag.to_owned(), Some(value.to_owned())),
            None => (arg, None),
        };
        if matches!(flag.as_str(), "--help" | "-h") {
            return Ok(Command::Help);
        }
        let switch = match flag.as_str() {
            "--headless" => Some(&mut headless),
            "--still" if server => Some(&mut still),
            _ => None,
        };
        if let Some(switch) = switch {
            if let Some(value) = attached {
                return Err(UsageError(format!("{flag} takes no value, not {value:?}")));
            }
            if core::mem::replace(switch, true) {
                return Err(twice(&flag));
            }
            continue;
        }
        let value = match attached {
            Some(value) => value,
            None => text(args.next().ok_or_else(|| {
                UsageError(format!(
                    "{flag} is not known here or needs a value after it"
                ))
            })?)?,
        };
        let again = match flag.as_str() {
            flag if flag == place => address.replace(read_address(flag, &value)?).is_some(),
            "--seconds" => {
                let seconds_read = number(&flag, &value, 1, SECONDS_MAX)?;
                seconds.replace(seconds_read).is_some()
            }
            "--pin" if !server => {
                let read = value.parse::<Fingerprint>();
                let read = read.map_err(|error| UsageError(format!("--pin: {error}")))?;
                pin.replace(read).is_some()
            }
            "--account" if !server => {
                let most = i64::MAX.cast_unsigned();
                account.replace(number(&flag, &value, 0, most)?).is_some()
            }
            _ => {
                let allowed = if server {
                    "--listen ADDR, --headless, --still and --seconds N"
                } else {
                    "--connect ADDR, --pin HEX, --account N, --headless and --seconds N"
                };
                return Err(UsageError(format!(
                    "{flag:?} is not known here; allowed are {allowed}"
                )));
            }
        };
        if again {
            return Err(twice(&flag));
        }
    }
    debug_assert!(HELP.contains(place), "the help shows it");
    let address = address
        .ok_or_else(|| UsageError(format!("{place} ADDR is needed, such as 127.0.0.1:4433")))?;
    Ok(if server {
        Command::Server(ServerOptions {
            listen: address,
            seconds,
            headless,
            still,
        })
    } else {
        Command::Client(ClientOptions {
            connect: address,
            pin,
            account,
            seconds,
            headless,
        })
    })
}

fn read_address(flag: &str, value: &str) -> Result<SocketAddr, UsageError> {
    value.parse().map_err(|_| {
        UsageError(format!(
            "{flag} takes an address with a port, such as 127.0.0.1:4433 or [::1]:4433, not {value:?}"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    fn error(args: &[&str]) -> String {
        parse(args.iter().map(Into::into)).unwrap_err().to_string()
    }

    #[test]
    fn both_sides_are_read() {
        let server =
            parse(["server", "--listen", "[::]:4433", "--still", "--seconds=5"].map(Into::into));
        let listen = "[::]:4433".parse().unwrap();
        let options = ServerOptions {
            listen,
            seconds: Some(5),
            headless: false,
            still: true,
        };
        assert_eq!(server, Ok(Command::Server(options)));
        let client = parse(
            [
                "client",
                "--headless",
                "--account",
                "7",
                "--connect=127.0.0.1:1",
            ]
            .map(Into::into),
        );
        let options = ClientOptions {
            connect: "127.0.0.1:1".parse().unwrap(),
            pin: None,
            account: Some(7),
            seconds: None,
            headless: true,
        };
        assert_eq!(client, Ok(Command::Client(options)));
        assert_eq!(
            parse(["server", "--help"].map(Into::into)),
            Ok(Command::Help)
        );
    }

    #[test]
    fn mistakes_are_named() {
        assert_eq!(
            error(&["server"]),
            "--listen ADDR is needed, such as 127.0.0.1:4433"
        );
        assert!(error(&["server", "--listen", "here"]).contains("not \"here\""));
        assert!(error(&["server", "--connect", "x"]).contains("\"--connect\" is not known here"));
        assert!(error(&["client", "--pin", "00"]).starts_with("--pin: a fingerprint is"));
        let twice = ["client", "--account", "1", "--account", "1"];
        assert!(error(&twice).contains("given twice"));
        assert!(error(&["client", "--headless", "--headless"]).contains("given twice"));
        assert!(error(&["client", "--headless=no"]).contains("takes no value"));
        assert!(error(&["client", "--still"]).contains("not known here"));
    }
}
