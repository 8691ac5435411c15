//! The operator's own instructions for agents: where they are looked for, and what is
//! refused.
#![allow(clippy::unwrap_used, reason = "tests")]

use planwright::engine::settings::{OwnPrompts, Role};

use std::fs;

use crate::config_errors::{error, loaded};

fn instructions(text: &str) -> OwnPrompts {
    OwnPrompts(vec![(Role::PlanExtractor, text.to_owned())])
}

#[test]
fn own_instructions_are_for_all_repositories_or_for_one() {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("plan-extractor.md", "for all");
    write("Octo-Org/Hello.World/plan-extractor.md", "for one");
    write("octo-org/.github/plan-extractor.md", "for another");
    write("octo-org/.github/planner.md", "for plans");
    write("octo-org/.github/researcher.md", "for reports");
    write("README.md", "not meant for agents");
    write(".git/hooks/plan-extractor.md", "not an owner");
    let prompts = format!("agent.prompts={}", folder.path().display());
    let own = loaded("", &[], &[&prompts]).config.engine.agent.prompts.own;
    assert_eq!(
        *own,
        [
            (None, instructions("for all")),
            (
                Some("octo-org/hello.world".to_owned()),
                instructions("for one")
            ),
            (
                Some("octo-org/.github".to_owned()),
                OwnPrompts(vec![
                    (Role::PlanExtractor, "for another".to_owned()),
                    (Role::Planner, "for plans".to_owned()),
                    (Role::Researcher, "for reports".to_owned()),
                ])
            ),
        ]
    );
}

#[test]
fn own_instructions_that_cannot_be_used_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let prompts = format!("agent.prompts={}", folder.path().display());
    let refused = |flag: &str| {
        let text = error("", &[], &[flag]);
        text.replace(&folder.path().display().to_string(), "DIR")
    };
    assert_eq!(
        refused(&format!("{prompts}/none")),
        "DIR/none: the folder cannot be read: No such file or directory (os error 2); make it readable for this user, or \
         name another one in `agent.prompts`"
    );
    assert_eq!(
        refused(&prompts),
        "DIR: the folder named by `agent.prompts` holds no plan-extractor.md, planner.md or researcher.md, and no \
         OWNER/NAME with one; put one there, or leave `agent.prompts` empty"
    );
    let one = folder.path().join("o/r");
    fs::create_dir_all(&one).unwrap();
    fs::write(one.join("plan_extractor.md"), "misspelt").unwrap();
    assert_eq!(
        refused(&prompts),
        "DIR/o/r: holds no plan-extractor.md, planner.md or researcher.md; put one there, or remove the folder"
    );
    let file = one.join("plan-extractor.md");
    let too_long = vec![b'x'; 200 * 1024 + 1];
    let cases: [(&[u8], &str); 3] = [
        (
            b" \n",
            "the instructions are empty; write some, or remove the file to use the built-in ones",
        ),
        (
            &too_long,
            "the instructions are longer than 200 KB; shorten them",
        ),
        (
            b"\xff",
            "the instructions cannot be read: it is not UTF-8; make it a text file that this user may read, or remove it",
        ),
    ];
    for (bytes, why) in cases {
        fs::write(&file, bytes).unwrap();
        assert_eq!(
            refused(&prompts),
            format!("DIR/o/r/plan-extractor.md: {why}")
        );
    }
    fs::write(&file, &too_long[1..]).unwrap();
    loaded("", &[], &[&prompts]);
    let twin = folder.path().join("O/R");
    fs::create_dir_all(&twin).unwrap();
    fs::write(twin.join("plan-extractor.md"), "twice").unwrap();
    assert_eq!(
        refused(&prompts),
        "DIR/o/r: is a second folder for o/r; GitHub does not tell them apart; remove one of them"
    );
    fs::remove_dir_all(&twin).unwrap();
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    assert_eq!(
        refused(&prompts),
        "DIR/o/r/plan-extractor.md: the instructions cannot be read: it is no file; make it a text file that this user may \
         read, or remove it"
    );
}
