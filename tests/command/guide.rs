//! The guide, done literally: its commands, in its order, in an empty directory.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
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
fn the_guide_names_every_address_alike() {
    for page in [GUIDE, WALK] {
        assert_eq!(page.matches(ADDRESS).count(), 2, "one listens, one connects");
    }
}

/// The pages that people read, with their directories.
fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let directories = ["", "docs", "docs/experiments", "python", "vectors", "circuits"];
    let packages = ["primitives", "privacy", "mpc", "release"].map(|name| format!("crates/{name}"));
    let names = directories.iter().copied().chain(packages.iter().map(String::as_str));
    let files = names.flat_map(|name| std::fs::read_dir(root.join(name)).unwrap());
    let paths = files.map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|end| end == "md")).collect()
}

/// The names under which headings of a page can be linked to.
fn anchors(page: &str) -> Vec<String> {
    let lines = page.split("```").step_by(2).flat_map(str::lines);
    let headings = lines.filter_map(|line| line.strip_prefix('#'));
    let named = headings.map(|text| text.trim_start_matches('#').trim().to_lowercase());
    let kept = |c: &char| c.is_alphanumeric() || " -_".contains(*c);
    named.map(|text| text.chars().filter(kept).collect::<String>().replace(' ', "-")).collect()
}

#[test]
fn pages_link_to_pages_and_headings_that_exist() {
    let pages = pages();
    assert!(pages.len() > 20, "{pages:?}");
    for page in pages {
        let text = std::fs::read_to_string(&page).unwrap();
        let links = text.split("](").skip(1).map(|rest| rest.split(')').next().unwrap());
        for link in links.filter(|link| !link.starts_with("http")) {
            let (path, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = if path.is_empty() { page.clone() } else { page.with_file_name(path) };
            assert!(target.exists(), "{} links to {link}", page.display());
            if !heading.is_empty() {
                let there = anchors(&std::fs::read_to_string(&target).unwrap());
                assert!(
                    there.iter().any(|name| name == heading),
                    "{} links to {link}",
                    page.display()
                );
            }
        }
    }
}

#[test]
fn the_guide_has_every_exit_status_and_so_have_the_help_and_the_manual() {
    let place = tempfile::tempdir().unwrap();
    let said = |arguments: &str| {
        let command = format!("diptych {arguments}");
        Shell::start(place.path(), &command).end(&command);
        let page = read(place.path(), "said");
        page.split_once("Exit status:").unwrap().1.to_owned()
    };
    let (help, manual) = (said("--help"), said("man"));
    for status in ["0 ", "1 ", "2 ", "3 ", "4 ", "130 "] {
        assert_eq!(GUIDE.matches(&format!("\n| {status}|")).count(), 1, "{status}");
        assert!(help.contains(&format!(" {status}")), "{status}: {help}");
        assert!(manual.contains(&format!(" {status}")), "{status}: {manual}");
    }
}
