//! What of a cell differs by whose it is.

use cell_api::spec::CellSpec;
use gateway::pool::Holder;
use model::{digest::Digest, name::ServerName};

/// Makes a server's cell the cell of one user or group: a name of its own, and a folder of its own that stays.
pub(super) fn belong(spec: &mut CellSpec, whose: &Holder) -> anyhow::Result<()> {
    let scope = match whose {
        Holder::Server => return Ok(()),
        Holder::User(key) => [b"user\0", key.as_bytes()].concat(),
        Holder::Group(name) => [b"group\0", name.as_bytes()].concat(),
    };
    if let Some(data) = &mut spec.data {
        data.name = data.name.scoped(&scope);
    }
    let digits = match whose {
        Holder::User(key) => key.clone(),
        Holder::Group(_) | Holder::Server => Digest::of(&scope).hex(),
    };
    let digits: String = digits.chars().take(DIGITS).collect();
    let most = ServerName::MAX_LEN - 1 - DIGITS;
    let beginning: String = spec.name.as_str().chars().take(most).collect();
    let named = ServerName::new(format!("{beginning}-{digits}"))?;
    spec.declared = Some(std::mem::replace(&mut spec.name, named));
    Ok(())
}

/// Digits by which people tell the cells of one server apart.
const DIGITS: usize = 8;

#[cfg(test)]
mod tests {
    use model::mount::Data;

    use super::*;

    fn spec(name: &str) -> CellSpec {
        let spec =
            serde_json::json!({ "name": name, "command": ["x"], "data": { "name": "notes", "size": 1 } });
        serde_json::from_value(spec).unwrap()
    }

    fn belonging(whose: &Holder) -> CellSpec {
        let mut spec = spec("weather");
        belong(&mut spec, whose).unwrap();
        spec
    }

    #[test]
    fn each_user_and_group_has_a_name_and_a_folder_of_its_own() {
        let data = |spec: &CellSpec| spec.data.as_ref().map(|data: &Data| data.name.to_string()).unwrap();
        let server = belonging(&Holder::Server);
        assert_eq!(
            (server.name.as_str(), &server.declared, data(&server).as_str()),
            ("weather", &None, "notes")
        );
        let a = belonging(&Holder::User("0123456789abcdef".repeat(4)));
        assert_eq!(a.name.as_str(), "weather-01234567");
        assert_eq!(a.declared.as_ref().map(ServerName::as_str), Some("weather"));
        let b = belonging(&Holder::User("0123456789abcdee".repeat(4)));
        // The same eight digits are enough to read, and not to share a folder.
        assert_eq!(a.name, b.name);
        let group = belonging(&Holder::Group("0123456789abcdef".repeat(4)));
        let all = [data(&a), data(&b), data(&group), data(&server)];
        for (at, one) in all.iter().enumerate() {
            assert!(!all[at + 1..].contains(one), "{all:?}");
        }
    }

    #[test]
    fn a_long_name_is_cut_and_what_a_group_is_called_is_never_a_part_of_it() {
        let mut long = spec(&"n".repeat(ServerName::MAX_LEN));
        belong(&mut long, &Holder::Group("../../etc".into())).unwrap();
        assert_eq!(long.name.as_str().len(), ServerName::MAX_LEN);
        assert!(!long.name.as_str().contains("..") && !long.data.unwrap().name.as_str().contains("etc"));
    }
}
