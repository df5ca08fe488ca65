//! `--expose`: a cell is given a real value. Never by default, and never by a slip.

use std::io::{self, BufRead, IsTerminal};

use model::secret::SecretUse;

use crate::{
    stop::{REFUSED, Stop},
    terminal,
};

/// Asks for the name of each secret that is to be exposed, unless `really` names it already. Says which are.
pub(crate) fn confirm(uses: &[SecretUse], really: &[String]) -> anyhow::Result<()> {
    let mut asked: Vec<&str> = Vec::new();
    for one in uses.iter().filter(|one| one.expose) {
        let name = one.name.as_str();
        if !asked.contains(&name) && !really.iter().any(|meant| meant == name) {
            ask(name)?;
        }
        if !asked.contains(&name) {
            terminal::say(&format!(
                "exposed: the cell holds the real value of {name}, and can send it wherever it reaches"
            ));
            asked.push(name);
        }
    }
    Ok(())
}

fn ask(name: &str) -> anyhow::Result<()> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        let message = format!("the real value of {name} is given to a cell by a person at a terminal");
        let hint =
            format!("run it at a terminal, or add `--expose-yes-really {name}` if a person has decided it");
        return Err(Stop::new(REFUSED, message, hint).into());
    }
    terminal::ask(&format!("type {name} to give the cell its real value: "));
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    if answer.trim() == name { Ok(()) } else { Err(Stop::new(REFUSED, "nothing was started", "").into()) }
}
