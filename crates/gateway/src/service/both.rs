//! What decides while rules are changed.

use std::sync::Arc;

use access::{
    Object,
    judge::{Authorizer, Question, Verdict},
    principal::Principal,
};

/// Rules before and after: what both let pass.
pub(super) struct Both(pub(super) Arc<dyn Authorizer>, pub(super) Arc<dyn Authorizer>);

impl Authorizer for Both {
    fn sees(&self, who: &Principal, object: &Object) -> bool {
        self.0.sees(who, object) && self.1.sees(who, object)
    }

    fn judge(&self, question: &Question<'_>) -> Verdict {
        let before = self.0.judge(question);
        if before.permitted { self.1.judge(question) } else { before }
    }
}
