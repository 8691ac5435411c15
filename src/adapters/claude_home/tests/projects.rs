//! Which project the sessions in a folder belong to.

use super::*;

/// A log with one plan, of a session that was started in `cwd`.
fn begun(session: &str, cwd: &str, plan: &str) -> String {
    let summary = json!({ "type": "summary", "summary": "What came before" });
    let first = json!({ "sessionId": session, "timestamp": "0", "cwd": cwd });
    let later = json!({ "sessionId": session, "timestamp": "1", "cwd": "/srv/left" });
    format!(
        "{summary}\n{first}\n{later}\n{}\n",
        exit(session, "2", plan)
    )
}

fn only(home: &Home, directory: &str) -> Result<FoundPlan, FindError> {
    home.home.find(Path::new(directory), &PlanChoice::Only)
}

#[test]
fn folders_whose_names_are_encoded_alike_do_not_share_sessions() {
    let home = Home::new();
    let all = [
        "/srv/my-app",
        "/srv/my.app",
        "/srv/my_app",
        "/srv/my/app",
        "/srv/my app",
    ];
    for (number, cwd) in all.iter().enumerate() {
        home.put(
            &format!("projects/-srv-my-app/s{number}.jsonl"),
            &begun(&format!("s{number}"), cwd, cwd),
        );
    }
    for (number, directory) in all.iter().enumerate() {
        let found = only(&home, directory).unwrap();
        assert_eq!(
            (found.text.as_str(), found.cwd),
            (*directory, Some(directory.into()))
        );
        let newest = home
            .home
            .find(Path::new(directory), &PlanChoice::Newest)
            .unwrap();
        assert_eq!(newest.text, *directory);
        let project = home.home.project(Path::new(directory)).unwrap();
        let sessions = home.home.sessions(&project).unwrap();
        let ids: Vec<_> = sessions.iter().map(|session| session.id.clone()).collect();
        assert_eq!(ids, [format!("s{number}")]);
    }
}

#[test]
fn long_names_that_begin_alike_do_not_share_sessions() {
    let home = Home::new();
    let long = format!("/srv/{}", "long/".repeat(60));
    let name = crate::formats::session::paths::project_names(&long).remove(0);
    let begin = &name[..MAX_PROJECT_NAME_CHARS];
    let (one, two) = (format!("{long}one"), format!("{long}two"));
    home.put(
        &format!("projects/{begin}-1a/s1.jsonl"),
        &begun("s1", &one, "one"),
    );
    home.put(
        &format!("projects/{begin}-2b/s2.jsonl"),
        &begun("s2", &two, "two"),
    );
    assert_eq!(only(&home, &one).unwrap().text, "one");
    assert_eq!(only(&home, &two).unwrap().text, "two");
    for other in [format!("{long}three"), long] {
        let none = only(&home, &other);
        assert!(matches!(none, Err(FindError::NoProject { .. })), "{other}");
    }
}

#[test]
fn a_folder_with_other_projects_sessions_only_is_skipped() {
    let home = Home::new();
    home.put(
        "projects/-srv-my-app/s1.jsonl",
        &begun("s1", "/srv/my.app", "of my.app"),
    );
    assert!(matches!(
        only(&home, "/srv/my/app"),
        Err(FindError::NoProject { .. })
    ));
    home.put(
        "projects/-srv-my/s2.jsonl",
        &begun("s2", "/srv/my", "of my"),
    );
    assert_eq!(only(&home, "/srv/my/app/src").unwrap().text, "of my");
    assert_eq!(only(&home, "/srv/my.app/src").unwrap().text, "of my.app");
}

#[test]
fn sessions_started_below_or_in_an_unrelated_directory_belong_to_the_project() {
    let home = Home::new();
    let log = "projects/-srv-my-app/s1.jsonl";
    for cwd in [
        "/srv/my-app/src",
        "/srv/elsewhere",
        "/",
        "my-app",
        "",
        "\u{0}",
    ] {
        home.put(log, &begun("s1", cwd, "stays"));
        assert_eq!(only(&home, "/srv/my-app").unwrap().text, "stays", "{cwd}");
    }
    home.put(log, &begun("s1", &"/d".repeat(3000), "stays"));
    let found = only(&home, "/srv/my-app").unwrap();
    assert_eq!(found.cwd.as_deref(), Some(Path::new("/srv/left")));
    home.put(log, &exit("s1", "1", "stays"));
    assert_eq!(only(&home, "/srv/my-app").unwrap().cwd, None);
}

#[test]
fn the_log_of_an_agent_belongs_to_its_session() {
    let home = Home::new();
    home.put(
        "projects/-srv-my-app/s1.jsonl",
        &json!({ "sessionId": "s1", "cwd": "/srv/my.app" }).to_string(),
    );
    home.put(
        "projects/-srv-my-app/agent-aa.jsonl",
        &exit("s1", "1", "of its agent"),
    );
    let found = only(&home, "/srv/my.app").unwrap();
    assert_eq!(
        (found.text.as_str(), found.cwd.as_deref()),
        ("of its agent", Some(Path::new("/srv/my.app")))
    );
    assert!(matches!(
        only(&home, "/srv/my-app"),
        Err(FindError::NoPlanInProject { sessions: 0, .. } | FindError::NoProject { .. })
    ));
}

#[cfg(unix)]
#[test]
fn a_link_to_the_directory_is_the_same_project() {
    let home = Home::new();
    let at = home.folder.path().canonicalize().unwrap();
    let (real, link) = (at.join("my-app"), at.join("my.app"));
    fs::create_dir(&real).unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    let names = crate::formats::session::paths::project_names(real.to_str().unwrap());
    home.put(
        &format!("projects/{}/s1.jsonl", names[0]),
        &begun("s1", link.to_str().unwrap(), "linked"),
    );
    assert_eq!(only(&home, real.to_str().unwrap()).unwrap().text, "linked");
}

#[test]
fn a_session_of_another_project_is_found_by_its_id_and_reported_as_such() {
    let home = Home::new();
    let of = |id: &str| {
        let choice = PlanChoice::Session(id.to_owned());
        let found = home.home.find(Path::new("/srv/my-app"), &choice).unwrap();
        (found.text, found.other_project)
    };
    let other = home.put("projects/-srv-other/s8.jsonl", &exit("s8", "1", "no cwd"));
    let session_folder = other.parent().unwrap().to_owned();
    assert_eq!(of("s8"), ("no cwd".to_owned(), Some(session_folder)));
    let put = |path: &str, id: &str, cwd: &str, plan: &str| {
        home.put(&format!("projects/{path}.jsonl"), &begun(id, cwd, plan));
    };
    put("-srv-my-app/s1", "s1", "/srv/my-app", "here");
    put("-srv-my-app/s2", "s2", "/srv/my.app", "alike");
    put("-srv-other/s9", "s9", "/srv/other", "elsewhere");
    assert_eq!(of("s1"), ("here".to_owned(), None));
    assert_eq!(of("s2"), ("alike".to_owned(), Some("/srv/my.app".into())));
    assert_eq!(
        of("s9"),
        ("elsewhere".to_owned(), Some("/srv/other".into()))
    );
    home.put("plans/of-nine.md", "its file");
    home.put(
        "projects/-srv-other/s9.jsonl",
        &json!({ "sessionId": "s9", "cwd": "/srv/other", "slug": "of-nine" }).to_string(),
    );
    assert_eq!(of("s9"), ("its file".to_owned(), Some("/srv/other".into())));
}

#[test]
fn the_plan_of_a_resumed_session_belongs_to_the_earlier_session() {
    let ids = |logs: &[(&str, &[String])]| {
        let home = Home::new();
        for (name, lines) in logs {
            home.log(name, lines);
        }
        home.find(&PlanChoice::Only).unwrap().session.unwrap()
    };
    let said =
        |session: &str, time: &str| json!({ "sessionId": session, "timestamp": time }).to_string();
    let plan = |session: &str, time: &str| exit(session, time, "# One");
    // Copied with the ids of the one before, which went on afterwards; names in either order.
    for (first, second) in [("s1", "s2"), ("s2", "s1")] {
        let copied = [plan(first, "1"), said(second, "2")];
        assert_eq!(
            ids(&[
                (first, &[plan(first, "1"), said(first, "3")]),
                (second, &copied)
            ]),
            first
        );
        // Copied with ids of its own.
        let copied = [plan(second, "1"), said(second, "2")];
        assert_eq!(
            ids(&[(first, &[plan(first, "1")]), (second, &copied)]),
            first
        );
        // Made again.
        let again = [plan(second, "2")];
        assert_eq!(
            ids(&[
                (first, &[plan(first, "1"), said(first, "3")]),
                (second, &again)
            ]),
            first
        );
    }
}
