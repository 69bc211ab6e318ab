//! The guide, done literally: its commands, in its order, in an empty directory.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const GUIDE: &str = include_str!("../../docs/guide.md");
const WALK: &str = include_str!("../../docs/walk-horizontal.md");
/// Where the guide's two parties meet; another test may be using it, so ours meet elsewhere.
const ADDRESS: &str = "127.0.0.1:7000";
const PATIENCE: Duration = Duration::from_secs(300);

/// A page's shell blocks, each with what stands behind `sh`.
fn blocks(page: &'static str) -> Vec<(&'static str, &'static str)> {
    let fenced = page.split("\n```").skip(1).step_by(2);
    fenced
        .map(|block| block.split_once('\n').expect("a block has a first line"))
        .filter_map(|(info, text)| Some((info.strip_prefix("sh")?.trim(), text)))
        .collect()
}

struct Shell(Child);

impl Shell {
    fn start(place: &Path, commands: &str) -> Self {
        let program = Path::new(env!("CARGO_BIN_EXE_diptych")).parent().unwrap();
        let path = std::env::var("PATH").unwrap();
        let shell = Command::new("sh")
            .args(["-euc", commands])
            .current_dir(place)
            .env("PATH", format!("{}:{path}", program.display()))
            .env_remove("DIPTYCH_LOG")
            .stdin(Stdio::null())
            .stdout(std::fs::File::create(place.join("said")).unwrap())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        Self(shell)
    }

    fn end(mut self, commands: &str) {
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            if let Some(status) = self.0.try_wait().unwrap() {
                break status;
            }
            assert!(Instant::now() < deadline, "it does not end:\n{commands}");
            std::thread::sleep(Duration::from_millis(10));
        };
        assert!(status.success(), "{status}:\n{commands}");
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Does what a page says, in its order, in an empty directory.
fn walk(page: &'static str) -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let mut background = None;
    for (info, commands) in blocks(page) {
        let commands = commands.replace(ADDRESS, &free);
        let shell = Shell::start(place.path(), &commands);
        if info == "background" {
            background = Some((shell, commands));
            continue;
        }
        shell.end(&commands);
        if let Some((shell, commands)) = background.take() {
            shell.end(&commands);
        }
    }
    assert!(background.is_none());
    place
}

fn read(place: &Path, name: &str) -> String {
    std::fs::read_to_string(place.join(name)).unwrap()
}

#[test]
fn every_command_of_the_guide_works_as_printed() {
    assert!(blocks(GUIDE).len() >= 10);
    let place = walk(GUIDE);
    // Columns of both parties were divided.
    let manifest = read(place.path(), "bank/release/manifest.json");
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    let cuts = &manifest["cuts"];
    for attribute in ["job", "salary"] {
        let divided = cuts.as_array().unwrap().iter().any(|cut| cut["attribute"] == attribute);
        assert!(divided, "{attribute}: {cuts}");
    }
    assert!(read(place.path(), "sign.html").contains("Loan company"));
    for file in ["published/report.html", "page.html", "bank/release/private/report.html"] {
        assert!(place.path().join(file).is_file(), "{file}");
    }
    let mut published: Vec<_> = std::fs::read_dir(place.path().join("published"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    published.sort();
    assert_eq!(published, ["manifest.json", "release.csv", "report.html"]);
}

#[test]
fn every_command_of_the_second_walk_works_as_printed() {
    let place = walk(WALK);
    let place = place.path();
    assert!(
        read(place, "passengers/release/release.csv").starts_with("class,age,sex,survived,count")
    );
    for file in ["page.html", "bars.csv", "rows.csv", "crew/release/report.html"] {
        assert!(place.join(file).is_file(), "{file}");
    }
}

#[test]
fn the_example_runs_as_it_says() {
    let place = tempfile::tempdir().unwrap();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/loans/run");
    let commands = format!("PORT={port} {} it", example.display());
    Shell::start(place.path(), &commands).end(&commands);
    let said = read(place.path(), "said");
    assert!(said.contains("job,sex,salary,approved,count"), "{said}");
    assert!(place.path().join("it/loan-company-release/report.html").is_file());
}

#[test]
fn the_guide_names_every_address_alike_and_links_to_pages_that_exist() {
    for page in [GUIDE, WALK] {
        assert_eq!(page.matches(ADDRESS).count(), 2, "one listens, one connects");
    }
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    for page in
        ["guide.md", "walk-horizontal.md", "deploy.md", "agreement.md", "cost.md", "privacy.md"]
    {
        let text = std::fs::read_to_string(docs.join(page)).unwrap();
        for link in text.split("](").skip(1).map(|rest| rest.split(')').next().unwrap()) {
            let path = link.split('#').next().unwrap();
            assert!(path.starts_with("http") || docs.join(path).exists(), "{page} links to {link}");
        }
    }
}
