//! The client while it may reach nothing but the stub, through the runner's proxy.

use std::net::{TcpListener, UdpSocket};

use serde_json::json;

use super::rig::{Rig, success};
use crate::support::confined::confined;
use crate::support::model::{Model, Turn};

#[tokio::test]
async fn a_confined_client_works_and_resumes_through_the_proxy() {
    if !confined() {
        return;
    }
    let model = Model::start([Turn::text("One."), Turn::text("Two.")]).await;
    let rig = Rig::with(model, |client| client.confined = true).await;
    let Some(rig) = rig else { return };
    let first = rig.work(rig.task("Begin.")).await;
    assert_eq!(success(&first), "One.");
    let second = rig.work(rig.going_on("Go on.", &first)).await;
    assert_eq!(success(&second), "Two.");
    for asked in rig.model.asked() {
        assert!(asked.headers.get("proxy-authorization").is_none());
        // The mark of a connection that came through the proxy.
        assert_eq!(asked.headers["connection"], "close");
    }
}

#[tokio::test]
async fn a_shell_of_a_confined_client_reaches_no_other_server() {
    if !confined() {
        return;
    }
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    let ports = [&tcp.local_addr(), &udp.local_addr()].map(|at| at.as_ref().unwrap().port());
    let command = format!(
        "cd /; bash -c 'echo x > /dev/tcp/127.0.0.1/{}' && echo REACHED; bash -c 'echo x > \
         /dev/udp/127.0.0.1/{}' && echo REACHED; bash -c 'echo x > /dev/tcp/localhost/53' && echo \
         REACHED; case $HTTPS_PROXY in http://turn:*) echo told;; esac",
        ports[0], ports[1]
    );
    let turns = [
        Turn::tool("Bash", &json!({ "command": command })),
        Turn::text("Done."),
    ];
    let rig = Rig::with(Model::start(turns).await, |client| {
        client.settings.tools = vec!["Bash".to_owned()];
        client.confined = true;
    });
    let Some(rig) = rig.await else { return };
    let report = rig.work(rig.task("Look around.")).await;
    assert_eq!(success(&report), "Done.");
    let said = rig.model.asked()[1].said();
    assert!(said.contains("told"), "{said}");
    assert!(!said.contains("REACHED"), "{said}");
    assert_eq!(
        said.matches("bash: connect: Permission denied").count(),
        2,
        "{said}"
    );
    assert!(said.contains("bash: socket: Permission denied"), "{said}");
    tcp.set_nonblocking(true).unwrap();
    tcp.accept().expect_err("nobody connects");
}

#[tokio::test]
async fn a_client_whose_model_is_not_among_the_hosts_says_so() {
    let model = Model::always(Turn::text("Not reached.")).await;
    let rig = Rig::with(model, |client| {
        client.confined = true;
        client.settings.retries = 0;
        // What the operator passes on goes before the address that the proxy was opened for.
        let other = ("ANTHROPIC_BASE_URL".to_owned(), "http://127.0.0.1:9".into());
        client.settings.environment.push(other);
    });
    let Some(rig) = rig.await else { return };
    let report = rig.work(rig.task("Begin.")).await;
    let said = format!("{:?}", report.ending);
    assert!(
        said.contains("403") && said.contains("agent.hosts does not name it"),
        "{said}"
    );
    assert!(rig.model.asked().is_empty());
}
