//! Messages for a client that takes them late, or never.

mod common;

use common::{Chat, Hit, Pair, protocol};
use nebula_multiplayer::client::ClientEvent;
use nebula_multiplayer::{Client, ClientSettings, Disconnect};

#[test]
fn every_reliable_message_of_one_tick_arrives() {
    let mut pair = Pair::connected();
    let said: Vec<Chat> = (0..300).map(|number| Chat(format!("{number}"))).collect();
    for chat in &said {
        pair.server.send(pair.id, chat).expect("there is room");
    }
    for number in 0..200 {
        pair.server
            .send(pair.id, &Hit(number))
            .expect("there is room");
    }
    pair.steps(4);
    assert_eq!(pair.client.messages::<Chat>().collect::<Vec<_>>(), said);
    let mut hits: Vec<u32> = pair.client.messages::<Hit>().map(|hit| hit.0).collect();
    hits.sort_unstable();
    assert_eq!(hits, (0..200).collect::<Vec<_>>());
    assert_eq!(pair.client.lost_messages(), 0);
}

#[test]
fn a_client_that_takes_nothing_is_told_so_and_can_come_back() {
    let mut pair = Pair::new();
    let settings = ClientSettings {
        inbox_bytes: 64 << 10,
        ..ClientSettings::default()
    };
    pair.client = Client::new(protocol(), settings).expect("settings");
    pair.join();
    let mut sent = 0;
    let end = (0..400).find_map(|_| {
        for _ in 0..20 {
            let chat = Chat(format!("{sent:100}"));
            sent += usize::from(pair.server.send(pair.id, &chat).is_ok());
        }
        pair.step();
        pair.client.events().find_map(|event| match event {
            ClientEvent::Disconnected { reason } => Some(reason),
            _ => None,
        })
    });
    assert_eq!(end, Some(Disconnect::Untaken));
    let why = Disconnect::Untaken.to_string();
    assert_eq!(why, "the messages that arrived were not taken");
    // What arrived before is there without a gap.
    let taken: Vec<Chat> = pair.client.messages().collect();
    assert!(taken.len() > 400 && taken.len() < sent, "{}", taken.len());
    for (number, chat) in taken.iter().enumerate() {
        assert_eq!(chat.0, format!("{number:100}"));
    }
    pair.another_live();
    pair.server.send(pair.id, &Hit(1)).expect("a new session");
    pair.steps(2);
    assert_eq!(pair.client.messages::<Hit>().count(), 1);
}
