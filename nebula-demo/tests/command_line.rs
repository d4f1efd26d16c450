//! The command line: every wrong flag or value gets a sentence that says what is allowed.

use std::ffi::OsString;

use nebula_demo::args::{Command, Limit, Options, parse};
use nebula_demo::{EXIT_OK, EXIT_USAGE, run};

fn words(line: &str) -> Vec<OsString> {
    line.split_whitespace().map(OsString::from).collect()
}

#[track_caller]
fn refuses(line: &str, sentence: &str) {
    let error = parse(words(line)).expect_err(line).to_string();
    assert!(error.contains(sentence), "{line}: {error}");
    let (mut out, mut err) = (Vec::new(), Vec::new());
    assert_eq!(run(words(line), &mut out, &mut err), EXIT_USAGE, "{line}");
    assert!(out.is_empty(), "nothing runs after a bad command line");
    assert!(String::from_utf8(err).unwrap().contains("--help"), "{line}");
}

#[test]
fn wrong_flags_and_values_say_what_is_allowed() {
    refuses("--frobnicate", "allowed are --scenario NAME, --seed S");
    refuses("planet", "\"planet\" is not known");
    refuses("--scenario mars", "allowed: counter");
    refuses("--scenario", "--scenario needs a value");
    refuses("--seed -1", "from 0 to 18446744073709551615, not \"-1\"");
    refuses("--seed 18446744073709551616", "from 0 to");
    refuses("--seed +1", "not \"+1\"");
    refuses("--ticks 0", "from 1 to 1000000, not \"0\"");
    refuses("--ticks 1e3", "not \"1e3\"");
    refuses("--ticks=", "not \"\"");
    refuses("--seconds 86401", "from 1 to 86400");
    refuses("--ticks 5 --seconds 5", "give one of them");
    refuses("--ticks 5 --ticks 6", "given twice");
    refuses("--hold", "--hold needs --ticks N");
    refuses("--hold --seconds 3", "--hold needs --ticks N");
    refuses("--screenshot=", "--screenshot needs the name");
    refuses("--shots", "--shots needs a value");
    refuses("--shots a --screenshot b", "give one of them");
    refuses("bench-frames --seed 1", "stands alone");
    refuses(
        "--screenshot a.png --json",
        "--json means nothing beside --screenshot; allowed there: --seed, --ticks, --scenario",
    );
    refuses("--headless --screenshot a.png", "--headless means nothing");
    refuses("--screenshot a.png --seconds 3", "--seconds means nothing");
    refuses(
        "--screenshot a.png --ticks 3 --hold",
        "--hold means nothing",
    );
    refuses(
        "--shots a --scenario city",
        "beside --shots; allowed there: --seed, --ticks",
    );
    refuses(
        "--ticks 5 --hold --json",
        "--hold keeps a window open and --json opens none",
    );
    refuses("--ticks 5 --headless --hold", "and --headless opens none");
    refuses("--json=yes", "--json takes no value");
}

#[cfg(unix)]
#[test]
fn bytes_that_are_no_text_are_refused() {
    use std::os::unix::ffi::OsStringExt;

    let error = parse([OsString::from_vec(vec![b'-', b'-', 0xFF])]).unwrap_err();
    assert!(error.to_string().contains("not valid UTF-8"), "{error}");
}

#[test]
fn both_spellings_of_a_value_mean_the_same() {
    let expected = Command::Run(Options {
        seed: 9,
        limit: Limit::Ticks {
            ticks: 3,
            hold: true,
        },
        ..Options::default()
    });
    let spaced = "--seed 9 --ticks 3 --hold --scenario counter";
    assert_eq!(parse(words(spaced)).unwrap(), expected);
    let joined = "--seed=9 --ticks=3 --hold --scenario=counter";
    assert_eq!(parse(words(joined)).unwrap(), expected);
}

#[test]
fn json_stays_in_the_terminal() {
    let Ok(Command::Run(options)) = parse(words("--json")) else {
        panic!("--json alone is a run");
    };
    assert!(options.json && options.headless);
}

#[test]
fn headless_stays_in_the_terminal() {
    let Ok(Command::Run(options)) = parse(words("--headless --seed=9")) else {
        panic!("--headless alone is a run");
    };
    assert!(options.headless && !options.json);
}

#[test]
fn help_names_every_flag_and_scenario() {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    assert_eq!(run(words("--ticks 3 --help"), &mut out, &mut err), EXIT_OK);
    let help = String::from_utf8(out).unwrap();
    let flags = "--scenario --seed --headless --ticks --hold --seconds --json --screenshot --shots --help \
         --listen --connect --pin --account --still";
    for flag in flags.split_whitespace() {
        assert!(help.contains(flag), "{flag} is not taught");
    }
    for scenario in nebula_demo::Scenario::ALL {
        assert!(help.contains(scenario.name()));
    }
}
