//! Whose memory a node means (spec/canvas-components §2.3, §6.1).

use easel_tools::memory::Whose;

use crate::behaviour::Call;
use crate::given::Given;

/// The memory of the user that the node names, or else of the turn's, with the agent that runs.
pub(crate) fn whose(user: &Given, call: &Call) -> Whose {
    let turn = &call.run.turn;
    let named = user.value(call).to_string();
    Whose {
        owner: turn.owner.to_string(),
        agent_id: turn.agent.to_string(),
        user_id: match named.trim() {
            "" => turn.user.to_string(),
            named => named.to_owned(),
        },
        session_id: turn.session.to_string(),
    }
}
