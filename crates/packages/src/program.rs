//! The program of a tree that an order asks for.

use crate::{
    npm,
    start::{Start, StartError},
    store::Package,
    uv,
    words::{Asked, Client},
};

impl Package {
    /// How a program of it is started.
    ///
    /// # Errors
    ///
    /// [`StartError`] where there is none, or it is not a file of its package.
    pub fn start(&self, asked: &Asked) -> Result<Start, StartError> {
        match asked.client {
            Client::Npm => npm::start(&self.tree(), asked),
            Client::Uv => uv::start(&self.tree(), asked),
        }
    }
}
