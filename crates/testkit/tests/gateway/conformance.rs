//! The official conformance suite: what the fixture scores bare it scores behind the service too, and where it does not,
//! `docs/conformance.md` says which rule it is.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs,
};

use serde_json::Value;

use crate::service::{Fixture, packages};

const REVISIONS: [&str; 3] = ["2025-06-18", "2025-11-25", "2026-07-28"];

/// Revision, scenario and check, and how often it is made and goes well, of the fixture with nothing around it.
const BARE: &str = include_str!("conformance/bare.txt");

/// Its tables are held against what is measured.
const DOCUMENT: &str = include_str!("../../../../docs/conformance.md");

/// Revision, scenario and check, and how it went each time that it was made.
type Score = BTreeMap<(String, String, String), Vec<String>>;

fn score(fixture: &Fixture) -> Score {
    let suite = packages().join("node_modules/@modelcontextprotocol/conformance/dist/index.js");
    let mut score = Score::new();
    for revision in REVISIONS {
        let out = fixture.clients.make_folder(&format!("results/{revision}")).unwrap();
        let (suite, out_text) = (suite.display().to_string(), out.display().to_string());
        let words = [
            &suite,
            "server",
            "--url",
            &fixture.url,
            "--suite",
            "all",
            "--spec-version",
            revision,
            "-o",
            &out_text,
        ];
        let ran = fixture.run(&words);
        assert!(!ran.late, "{ran:?}");
        for entry in fs::read_dir(&out).unwrap_or_else(|error| panic!("{error}: {ran:?}")) {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            // `server-NAME-2026-11-30T14-18-25-161Z`
            let scenario = name.strip_prefix("server-").and_then(|name| name.get(..name.len() - 25)).unwrap();
            let checks: Vec<Value> =
                serde_json::from_slice(&fs::read(path.join("checks.json")).unwrap()).unwrap();
            for check in checks.iter().filter(|check| check["status"] != "INFO") {
                let place =
                    (revision.to_owned(), scenario.to_owned(), check["id"].as_str().unwrap().to_owned());
                score.entry(place).or_default().push(check["status"].as_str().unwrap().to_owned());
            }
        }
    }
    score
}

/// As [`BARE`] is written.
fn text(score: &Score) -> String {
    let lines = score.iter().map(|((revision, scenario, check), times)| {
        let good = times.iter().filter(|status| *status == "SUCCESS").count();
        format!("{revision} {scenario} {check} {good}/{}\n", times.len())
    });
    lines.collect()
}

/// What [`BARE`] says.
fn bare() -> Score {
    let lines = BARE.lines().map(|line| {
        let [revision, scenario, check, times] = line.split(' ').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let all: usize = times.split_once('/').unwrap().1.parse().unwrap();
        ((revision.to_owned(), scenario.to_owned(), check.to_owned()), vec!["SUCCESS".to_owned(); all])
    });
    lines.collect()
}

/// Good checks of all, by revision and scenario: for whoever reads the output of the test.
fn table(score: &Score) -> String {
    let mut counts: BTreeMap<(&str, &str), (usize, usize)> = BTreeMap::new();
    for ((revision, scenario, _), times) in score {
        let (good, all) = counts.entry((revision, scenario)).or_default();
        *good += times.iter().filter(|status| *status == "SUCCESS").count();
        *all += times.len();
    }
    counts.iter().fold(String::new(), |mut text, ((revision, scenario), (good, all))| {
        writeln!(text, "{revision}  {scenario:<52}  {good}/{all}").unwrap();
        text
    })
}

/// What differs, as a table of the document has it: revision, scenario, check, what became of it.
fn differences(bare: &Score, other: &Score) -> BTreeSet<[String; 4]> {
    let places: BTreeSet<_> = bare.keys().chain(other.keys()).collect();
    let differing = places.into_iter().filter(|place| bare.get(*place) != other.get(*place));
    let rows = differing.map(|place| {
        let worst = |score: &Score| {
            let times = score.get(place).map(Vec::as_slice).unwrap_or_default();
            ["FAILURE", "WARNING", "SKIPPED"]
                .into_iter()
                .find(|bad| times.iter().any(|status| status == bad))
                .map_or(if times.is_empty() { "not made" } else { "good" }, |bad| match bad {
                    "FAILURE" => "fails",
                    "WARNING" => "warns",
                    _ => "skipped",
                })
        };
        let (revision, scenario, check) = place.clone();
        [revision, scenario, check, worst(other).to_owned()]
    });
    rows.collect()
}

/// The rows of the table below a heading, without its last column, which says the rule.
fn documented(heading: &str) -> BTreeSet<[String; 4]> {
    let (_, below) = DOCUMENT.split_once(heading).unwrap();
    let below = below.split_once("\n## ").map_or(below, |(section, _)| section);
    let rows = below.lines().filter(|line| line.starts_with("| 20")).map(|line| {
        let cells: Vec<&str> =
            line.trim_matches('|').split('|').map(|cell| cell.trim().trim_matches('`')).collect();
        let [revision, scenario, check, becomes, rule] = cells.as_slice() else { panic!("{line}") };
        assert!(!rule.is_empty(), "no rule is named: {line}");
        [revision, scenario, check, becomes].map(|cell| (*cell).to_owned())
    });
    rows.collect()
}

/// What is measured behind the service is what the document says of it.
fn confined(profile: &str, heading: &str) -> Score {
    let confined = score(&Fixture::confined(profile));
    eprintln!("confined, `{profile}`\n{}", table(&confined));
    assert_eq!(differences(&bare(), &confined), documented(heading), "{heading}");
    confined
}

#[test]
fn the_fixture_with_nothing_around_it_passes_every_check() {
    let score = score(&Fixture::bare());
    eprintln!("bare\n{}", table(&score));
    assert!(score.values().flatten().all(|status| status == "SUCCESS"));
    assert_eq!(text(&score), BARE);
}

#[test]
fn passed_through_the_service_it_passes_every_check_that_is_made() {
    let score = confined("profile = 'pass-through'", "## Under `profile = \"pass-through\"`");
    assert!(score.values().flatten().all(|status| status == "SUCCESS"));
}

#[test]
fn under_the_defaults_each_difference_is_a_rule_of_ours() {
    confined("", "## Under the defaults");
}

#[test]
fn a_score_that_differs_is_found() {
    let place = |check: &str| ("2025-11-25".to_owned(), "ping".to_owned(), check.to_owned());
    let good = || vec!["SUCCESS".to_owned()];
    let bare = Score::from([(place("a"), good()), (place("b"), good()), (place("c"), good())]);
    let other = Score::from([(place("a"), good()), (place("b"), vec!["FAILURE".to_owned()])]);
    let row = |check: &str, becomes: &str| ["2025-11-25", "ping", check, becomes].map(str::to_owned);
    assert_eq!(differences(&bare, &other), BTreeSet::from([row("b", "fails"), row("c", "not made")]));
    assert!(differences(&bare, &bare.clone()).is_empty());
}
