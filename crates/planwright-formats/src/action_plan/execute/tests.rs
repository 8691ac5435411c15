//! What is taken from the top of a command.
#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;

fn split_to(block: &str) -> (Option<String>, Vec<(String, String)>, String) {
    let header = split(block).unwrap();
    (
        header.cwd.map(|cwd| cwd.as_str().to_owned()),
        header.env,
        header.command,
    )
}

#[test]
fn plain_lines_at_the_top_are_taken() {
    let env = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        let own = |(a, b): &(&str, &str)| ((*a).to_owned(), (*b).to_owned());
        pairs.iter().map(own).collect()
    };
    for (block, cwd, variables, command) in [
        ("ls", None, env(&[]), "ls"),
        ("", None, env(&[]), ""),
        ("cd src\nls", Some("src"), env(&[]), "ls"),
        ("cd 'my dir'\nls", Some("my dir"), env(&[]), "ls"),
        ("cd \"my dir\"\nls", Some("my dir"), env(&[]), "ls"),
        (
            "cd src\nexport A=1\nexport B=\"x y\"\nexport C='z'\nls",
            Some("src"),
            env(&[("A", "1"), ("B", "x y"), ("C", "z")]),
            "ls",
        ),
        ("export A=\nls", None, env(&[("A", "")]), "ls"),
        ("export A=''\nls", None, env(&[("A", "")]), "ls"),
        ("export A=b=c\nls", None, env(&[("A", "b=c")]), "ls"),
        (
            "\n\ncd src\n\nexport A=1\nls\n",
            Some("src"),
            env(&[("A", "1")]),
            "ls",
        ),
        // Below the first other line everything is the shell's.
        ("ls\ncd src && make", None, env(&[]), "ls\ncd src && make"),
        ("# setup\ncd $X\nls", None, env(&[]), "# setup\ncd $X\nls"),
        ("cdx src", None, env(&[]), "cdx src"),
        ("exportfs -a", None, env(&[]), "exportfs -a"),
        ("pushd src", None, env(&[]), "pushd src"),
        ("(cd src && ls)", None, env(&[]), "(cd src && ls)"),
    ] {
        let want = (cwd.map(str::to_owned), variables, command.to_owned());
        assert_eq!(split_to(block), want, "{block:?}");
    }
}

#[test]
fn what_a_shell_would_interpret_is_refused() {
    for line in [
        "cd",
        "cd ",
        "cd -",
        "cd\tsrc",
        "cd  src",
        "cd src && make",
        "cd src; make",
        "cd;ls",
        "cd src # go",
        "cd $HOME",
        "cd \"$HOME\"",
        "cd `pwd`",
        "cd a\\ b",
        "cd a b",
        "cd *",
        "cd 'a",
        "cd ''",
        "cd \"a\"b",
        "export",
        "export A",
        "export -p",
        "export A=1 B=2",
        "export A=1 && ls",
        "export A=$B",
        "export A=\"$B\"",
        "export A=\"`b`\"",
        "export A=x\"y\"z",
        "export A=1 # why",
        "export A=~",
    ] {
        let bad = split(&format!("{line}\nls")).unwrap_err();
        assert_eq!((bad.len(), bad[0].line), (1, 0), "{line:?}");
        assert!(matches!(bad[0].problem, Problem::Form), "{line:?} {bad:?}");
    }
    for (line, problem) in [
        ("cd ..", Problem::Path(PathError::Parent)),
        ("cd /opt", Problem::Path(PathError::Absolute)),
        ("cd C:/a", Problem::Path(PathError::Drive)),
        ("cd .", Problem::Path(PathError::Empty)),
        ("export 1A=b", Problem::Name),
        ("export A =b", Problem::Name),
    ] {
        assert_eq!(split(line).unwrap_err()[0].problem, problem, "{line:?}");
    }
}

#[test]
fn all_bad_lines_come_together_with_their_numbers() {
    let bad = split("\ncd a\ncd b\nexport X=1\nexport X=2\ncd $Y\nls").unwrap_err();
    let found: Vec<_> = bad.iter().map(|bad| (bad.line, &bad.problem)).collect();
    assert_eq!(
        found,
        [
            (2, &Problem::Duplicate),
            (4, &Problem::Duplicate),
            (5, &Problem::Form)
        ]
    );
}
