//! Documents that runs make.

use std::sync::{Arc, LazyLock};

use easel_documents::DocumentMaker;
use easel_runtime::tools::World;

/// One for the program: it knows the fonts of the machine once it has looked for them, and bounds what is made at once.
static MAKER: LazyLock<Arc<DocumentMaker>> = LazyLock::new(Arc::default);

/// A world that makes documents. Nothing of that reaches outside, so scripted worlds do it, too.
pub fn within(world: World) -> World {
    World {
        documents: MAKER.clone(),
        ..world
    }
}
