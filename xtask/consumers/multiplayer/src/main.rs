//! Links nebula-multiplayer alone. The crate holds its documentation page so far, so that is all
//! there is to show.

use nebula_multiplayer as _;

fn main() {
    println!("nebula-multiplayer: links");
}
