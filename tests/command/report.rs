//! The page of a release, as a person, a script and a browser meet it.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::program::diptych;

/// Names that would be markup if anything let them through.
const AGREEMENT: &str = r#"
[release]
id = "a-release"
partition = "local"
epsilon = "1.0"
specializations = 3
max_records = 1000
[class]
column = "approved"
values = ["Y & \"so\"", "<script>alert(1)</script>"]
[[attribute]]
name = "job<b>"
kind = "categorical"
taxonomy = { "<Any>" = { "Pro'fessional" = ["<img src=x onerror=alert(1)>", "Lawyer"], Artist = ["Dancer", "Writer"] } }
[[attribute]]
name = "salary"
kind = "numeric"
min = 18
max = 99
step = 1
"#;

const COSTS: &str = r#"{ "private": "x", "release": "x", "party": "p1", "records": 471147114711,
  "common_records": null, "as_forecast": true, "phases": [
    { "phase": "<i>noise</i>", "bytes_sent": 81, "bytes_received": 82, "messages_sent": 1,
      "messages_received": 1, "rounds": 1, "wall_seconds": 0.5, "cpu_seconds": 0.25 },
    { "phase": "total", "bytes_sent": 81, "bytes_received": 82, "messages_sent": 1,
      "messages_received": 1, "rounds": 1, "wall_seconds": 0.5, "cpu_seconds": 0.25 } ] }"#;

/// A release in `out`, with a record of costs.
fn release() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(place.path().join(name), text).unwrap();
    write("agreement.toml", AGREEMENT);
    let mut csv = String::from("job<b>,salary,approved\n");
    for index in 0..400 {
        let job = ["<img src=x onerror=alert(1)>", "Lawyer", "Dancer", "Writer"][index % 4];
        let salary = 18 + index * 7 % 82;
        let class = if salary > 50 { "\"Y & \"\"so\"\"\"" } else { "<script>alert(1)</script>" };
        csv += &format!("{job},{salary},{class}\n");
    }
    write("table.csv", &csv);
    let local = ["local", "--agreement", "agreement.toml", "--data", "table.csv", "--out", "out"];
    let (status, _, said) = diptych(place.path(), &local);
    assert_eq!(status, 0, "{said}");
    std::fs::create_dir(place.path().join("out/private")).unwrap();
    write("out/private/costs.json", COSTS);
    place
}

fn read(place: &Path, name: &str) -> String {
    std::fs::read_to_string(place.join(name)).unwrap()
}

#[test]
fn a_page_is_the_same_whenever_it_is_made_and_lets_no_markup_through() {
    let place = release();
    let place = place.path();
    let first = read(place, "out/report.html");
    let (status, said, told) =
        diptych(place, &["report", "--release", "out", "--out", "page.html"]);
    assert_eq!((status, said.trim()), (0, "page.html"), "{told}");
    assert_eq!(read(place, "page.html"), first);
    for raw in ["<script>alert", "<img", "job<b>", "Pro'f", "<Any>"] {
        assert!(!first.contains(raw), "{raw}");
    }
    assert!(first.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    assert!(first.contains("Y &amp; &quot;so&quot;"));
    assert_eq!(first.matches("<script").count(), 1);
    assert!(!first.contains("471147114711"), "costs are not for everybody");
    assert!(!first.contains("table.csv"), "nor is where the data lies");
    // This release was made without a ledger.
    assert!(!first.contains("ledger was debited") && !first.contains("ledger keeps"));
    assert!(first.contains("only if it is given a ledger"));
}

#[test]
fn the_private_page_has_the_costs_and_is_for_its_owner() {
    let place = release();
    let place = place.path();
    let (status, said, told) = diptych(place, &["report", "--release", "out", "--private"]);
    assert_eq!((status, said.trim()), (0, "out/private/report.html"), "{told}");
    let page = read(place, "out/private/report.html");
    assert!(page.contains("471147114711 records") && page.contains("&lt;i&gt;noise&lt;/i&gt;"));
    assert!(page.contains("their lengths tell no more than these"));
    let mode = |name: &str| place.join(name).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("out/private/report.html"), 0o600);
    // Also where a page that everybody may read was before.
    std::fs::write(place.join("page.html"), "").unwrap();
    let arguments = ["report", "--release", "out", "--private", "--out", "page.html"];
    assert_eq!(diptych(place, &arguments).0, 0);
    assert_eq!(mode("page.html"), 0o600);

    std::fs::write(place.join("out/private/costs.json"), "{}").unwrap();
    let (status, _, told) = diptych(place, &["report", "--release", "out", "--private"]);
    assert!(status == 2 && told.contains("not a record of a run's costs"), "{told}");
}

#[test]
fn a_release_that_was_changed_gets_no_page() {
    let place = release();
    let place = place.path();
    let rows = read(place, "out/release.csv");
    std::fs::write(place.join("out/release.csv"), rows + "\n").unwrap();
    let (status, _, told) = diptych(place, &["report", "--release", "out", "--out", "page.html"]);
    assert!(status == 1 && told.contains("does not have the hash"), "{told}");
    assert!(!place.join("page.html").exists());
    assert_eq!(diptych(place, &["report", "--release", "nowhere"]).0, 2);
}

/// The page as it stands after its script has run, by a browser if there is one.
fn seen_by_browser(place: &Path, page: &str) -> Option<String> {
    let browser = ["chromium", "chromium-browser", "google-chrome"].into_iter().find(|name| {
        let mut command = Command::new(name);
        let command = command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    })?;
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
        .args(["--no-first-run", "--enable-logging=stderr", "--dump-dom"])
        .arg(format!("--user-data-dir={}", place.join("browser").display()))
        .arg(format!("file://{}", place.join(page).display()))
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!log.contains("Content Security Policy"), "the policy blocked something: {log}");
    Some(String::from_utf8(output.stdout).unwrap()).filter(|dom| !dom.is_empty())
}

#[test]
fn a_browser_opens_both_pages_and_the_policy_lets_their_own_parts_run() {
    let place = release();
    let place = place.path();
    assert_eq!(diptych(place, &["report", "--release", "out", "--private"]).0, 0);
    for page in ["out/report.html", "out/private/report.html"] {
        let Some(dom) = seen_by_browser(place, page) else {
            eprintln!("skipped: no Chromium that runs without a screen was found");
            return;
        };
        let search = dom.split("id=\"search-box\"").nth(1).unwrap();
        let tag = search.split('>').next().unwrap();
        assert!(!tag.contains("hidden"), "the script shows the search field: {tag}");
        assert_eq!(dom.matches("<h1>").count(), 1);
        let drawn = dom.matches("<svg class=\"tree\"").count();
        let undivided = usize::from(dom.contains("class=\"undivided\""));
        assert_eq!(drawn + undivided, 2, "a picture for each attribute that was divided");
        assert!(!dom.contains("<img"), "no name became an element");
    }
}
