//! The harness itself: halves of a step, and clients without an account.

use nebula_multiplayer::Identity;
use nebula_multiplayer::protocol::Protocol;
use nebula_multiplayer::testing::TestNet;

#[test]
fn a_step_is_its_two_halves() {
    let traffic = |halves: bool| {
        let mut net = TestNet::new(&Protocol::new("game", 1), Default::default(), 7);
        assert!(net.is_empty());
        let guest = net.join_as(Identity::Anonymous);
        let mut bytes = Vec::new();
        for _ in 0..20 {
            if halves {
                net.begin();
                net.send(&mut |sent| bytes.extend_from_slice(sent.bytes));
            } else {
                net.step_seen(&mut |sent| bytes.extend_from_slice(sent.bytes));
            }
        }
        net.step();
        assert!(net.client(guest).client.is_connected());
        bytes
    };
    let whole = traffic(false);
    assert!(!whole.is_empty());
    assert_eq!(traffic(true), whole);
}
