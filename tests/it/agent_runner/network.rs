//! What an agent whose network is restricted can reach. Where the kernel has no Landlock rules for
//! TCP, these tests check nothing but that the proxy is used.
//!
//! The agent is this test program, started by a shell, with [`probe`] as its only test.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};

use planwright::adapters::agent::network::ModelNetwork;
use planwright::engine::settings::hosts::AllowedHost;
use rustix::net::{AddressFamily, RawProtocol, SendFlags, SocketType, ipproto, sendto, socket};

use super::*;
use crate::support::confined::confined;

/// Starts the lines of the probe's output.
const SAYS: &str = "probe: ";

/// What the probe tries and can do on an open network without privileges.
const OPEN: [&str; 9] = [
    "tcp",
    "tcp6",
    "fast open",
    "bind",
    "listen",
    "udp",
    "unix",
    "unix datagrams",
    "netlink",
];

/// The world that an agent may not reach: every server accepts connections.
struct Outside {
    place: TempDir,
    tcp: TcpListener,
    tcp6: Option<TcpListener>,
    udp: UdpSocket,
    _unix: UnixListener,
}

impl Outside {
    fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        udp.set_nonblocking(true).unwrap();
        Self {
            tcp: TcpListener::bind("127.0.0.1:0").unwrap(),
            tcp6: TcpListener::bind("[::1]:0").ok(),
            udp,
            _unix: UnixListener::bind(place.path().join("socket")).unwrap(),
            place,
        }
    }

    /// The prompt for the probe.
    fn prompt(&self) -> String {
        let tcp = self.tcp.local_addr().unwrap();
        let tcp6 = self
            .tcp6
            .as_ref()
            .map_or(tcp, |tcp6| tcp6.local_addr().unwrap());
        let udp = self.udp.local_addr().unwrap();
        let unix = self.place.path().join("socket");
        format!("{SAYS}{tcp} {tcp6} {udp} {}\n", unix.display())
    }
}

/// A rig whose agent is the probe.
fn probing(outside: &Outside) -> Rig {
    let mut rig = Rig::new("\"$@\"; exit $?\n");
    let own = std::env::current_exe().unwrap();
    rig.command.args.push(own.clone().into_os_string());
    let test = "agent_runner::network::probe";
    let options = [
        "--exact",
        test,
        "--ignored",
        "--nocapture",
        "--test-threads=1",
    ];
    rig.command.args.extend(options.map(Into::into));
    rig.command.reads.push(own.parent().unwrap().to_owned());
    rig.command.reads.push(outside.place.path().to_owned());
    rig.command.output = OutputFormat::Markdown;
    rig
}

fn model(host: &str) -> ModelNetwork {
    let hosts = vec![AllowedHost::parse(host).unwrap()];
    ModelNetwork::new(hosts, &[]).unwrap()
}

/// What the probe says about each attempt.
async fn probed(rig: &Rig, outside: &Outside) -> Vec<(String, String)> {
    let agent = rig.open().unwrap();
    let report = turn(&agent, &rig.task(&outside.prompt())).await;
    let lines = text(&report)
        .lines()
        .filter_map(|line| line.split_once(SAYS));
    let pairs = lines.filter_map(|(_, line)| line.split_once(": "));
    pairs
        .map(|(what, how)| (what.to_owned(), how.to_owned()))
        .collect()
}

/// An answer to every connection, as the model's API would give it, until the test ends.
fn serve_http(listener: TcpListener) -> String {
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        }
    });
    address
}

#[tokio::test]
async fn an_agent_that_may_reach_its_model_reaches_nothing_else() {
    if !confined() {
        return;
    }
    let outside = Outside::new();
    let allowed = serve_http(TcpListener::bind("127.0.0.1:0").unwrap());
    let mut rig = probing(&outside);
    rig.settings.sandbox = SandboxMode::Required;
    rig.settings.network = Some(model(&allowed));
    rig.command.environment = vec![("ALLOWED".to_owned(), allowed.into())];
    let said = probed(&rig, &outside).await;
    let refused = |what: &str| {
        (
            what.to_owned(),
            "Permission denied (os error 13)".to_owned(),
        )
    };
    let mut expected: Vec<_> = OPEN.map(refused).into();
    expected.extend(["raw", "packets", "vsock", "mptcp"].map(refused));
    expected.extend(
        [
            ("pair", "works"),
            ("forward", "HTTP/1.1 200 OK"),
            ("tunnel", "HTTP/1.1 200 Connection established"),
            ("elsewhere", "HTTP/1.1 403 Forbidden"),
            ("stranger", "HTTP/1.1 407 Proxy Authentication Required"),
        ]
        .map(|(what, how)| (what.to_owned(), how.to_owned())),
    );
    assert_eq!(said, expected);
    outside.udp.recv(&mut [0; 1]).expect_err("nothing was sent");
}

/// The attempts are such that they fail only where they are refused.
#[tokio::test]
async fn an_agent_on_an_open_network_reaches_what_its_user_reaches() {
    let outside = Outside::new();
    let mut rig = probing(&outside);
    rig.settings.sandbox = SandboxMode::Off;
    let said = probed(&rig, &outside).await;
    for what in OPEN {
        let pair = (what.to_owned(), "works".to_owned());
        assert!(said.contains(&pair), "{what}: {said:?}");
    }
    assert!(!said.iter().any(|(what, _)| what == "tunnel"), "{said:?}");
}

#[tokio::test]
async fn a_proxy_of_the_operator_does_not_reach_a_confined_agent() {
    let mut rig = Rig::new("cat >/dev/null; env | grep -i proxy; printf %s $HTTPS_PROXY | cksum");
    rig.command.output = OutputFormat::Markdown;
    rig.command.environment = vec![
        (
            "HTTPS_PROXY".to_owned(),
            "http://agent:hush@127.0.0.1:9".into(),
        ),
        (
            "ALL_PROXY".to_owned(),
            "http://agent:hush@127.0.0.1:9".into(),
        ),
    ];
    let hosts = vec![AllowedHost::parse("model.example").unwrap()];
    rig.settings.network = Some(ModelNetwork::new(hosts, &rig.command.environment).unwrap());
    let agent = rig.open().unwrap();
    let [first, second] = [
        turn(&agent, &rig.task("the prompt")).await,
        turn(&agent, &rig.task("the prompt")).await,
    ];
    let names: Vec<_> = text(&first)
        .lines()
        .filter_map(|line| line.split_once('='))
        .map(|(name, _)| name)
        .collect();
    let all = [
        "HTTPS_PROXY",
        "HTTP_PROXY",
        "NO_PROXY",
        "http_proxy",
        "https_proxy",
        "no_proxy",
    ];
    let mut sorted = names.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, all);
    assert!(text(&first).contains("=http://turn:"), "{first:?}");
    assert!(
        !text(&first).contains("hush") && !text(&first).contains(":9"),
        "{first:?}"
    );
    assert_ne!(
        text(&first),
        text(&second),
        "each turn has a credential of its own"
    );
}

#[test]
fn a_proxy_that_cannot_listen_is_told_with_what_to_do() {
    let error = OpenError::Proxy(std::io::Error::other("too many open files"));
    assert_eq!(
        error.to_string(),
        "the agents' proxy cannot listen on 127.0.0.1: too many open files: let planwright use the \
         loopback interface, or set agent.network to \"open\""
    );
}

/// Calls that no library has a safe function for.
#[tokio::test]
async fn an_agent_cannot_get_around_the_filter() {
    if !confined() || !Path::new("/usr/bin/perl").exists() {
        println!("skipped: this needs a confined agent and perl");
        return;
    }
    let request_key = if cfg!(target_arch = "x86_64") {
        249
    } else {
        218
    };
    let script = format!(
        "exec 2>&1; cat >/dev/null; /usr/bin/perl -MSocket -e '\
           my $name = \"user\"; my $text = \"planwright\"; my $room = \"\\0\" x 120;\n\
           print syscall(425, 1, $room), \" $!\\n\";\n\
           print syscall({request_key}, $name, $text, 0, 0), \" $!\\n\";\n\
           socket(my $tcp, AF_INET, SOCK_STREAM, 0) or print \"no socket: $!\\n\";\n\
           print setsockopt($tcp, 6, 31, \"tls\") ? \"set\" : \"-1 $!\", \"\\n\"'"
    );
    let mut rig = Rig::new(&script);
    rig.settings.sandbox = SandboxMode::Required;
    rig.settings.network = Some(model("model.example"));
    rig.command.output = OutputFormat::Markdown;
    let denied = "-1 Permission denied\n";
    assert_eq!(text(&rig.turn().await), denied.repeat(3));
    rig.settings.network = None;
    let open = rig.turn().await;
    assert!(!text(&open).contains("Permission denied"), "{open:?}");
}

/// The agent. It tries what the prompt names and prints what comes of it.
#[test]
#[ignore = "the agent of other tests"]
fn probe() {
    let mut prompt = String::new();
    std::io::stdin().read_to_string(&mut prompt).unwrap();
    let Some((_, line)) = prompt.split_once(SAYS) else {
        return;
    };
    let mut words = line.split_whitespace();
    let mut next = || words.next().unwrap();
    let (tcp, tcp6, udp, unix) = (next(), next(), next(), next());
    let say = |what: &str, how: &str| println!("\n{SAYS}{what}: {how}");
    let tried = |what: &str, how: std::io::Result<()>| match how {
        Ok(()) => say(what, "works"),
        Err(error) => say(what, &error.to_string()),
    };
    let open = |family, kind, protocol: Option<u32>| {
        let protocol = protocol.and_then(RawProtocol::new);
        socket(family, kind, protocol.map(rustix::net::Protocol::from_raw))
    };
    let stream = || open(AddressFamily::INET, SocketType::STREAM, None);
    tried("tcp", TcpStream::connect(tcp).map(drop));
    tried("tcp6", TcpStream::connect(tcp6).map(drop));
    let address: std::net::SocketAddr = tcp.parse().unwrap();
    let fast = SendFlags::from_bits_retain(0x2000_0000);
    let sent = stream().and_then(|socket| sendto(&socket, b"x", fast, &address).map(drop));
    tried("fast open", sent.map_err(Into::into));
    tried("bind", TcpListener::bind("127.0.0.1:0").map(drop));
    let listening = stream().and_then(|socket| rustix::net::listen(&socket, 1));
    tried("listen", listening.map_err(Into::into));
    let sent = UdpSocket::bind("127.0.0.1:0").and_then(|own| own.send_to(b"x", udp).map(drop));
    tried("udp", sent);
    tried("unix", UnixStream::connect(unix).map(drop));
    tried("unix datagrams", UnixDatagram::pair().map(drop));
    let route = socket(AddressFamily::NETLINK, SocketType::RAW, None);
    tried("netlink", route.map(drop).map_err(Into::into));
    let raw = socket(AddressFamily::INET, SocketType::RAW, Some(ipproto::ICMP));
    tried("raw", raw.map(drop).map_err(Into::into));
    let packets = open(AddressFamily::PACKET, SocketType::RAW, None);
    tried("packets", packets.map(drop).map_err(Into::into));
    let vsock = open(AddressFamily::VSOCK, SocketType::STREAM, None);
    tried("vsock", vsock.map(drop).map_err(Into::into));
    let mptcp = socket(
        AddressFamily::INET,
        SocketType::STREAM,
        Some(ipproto::MPTCP),
    );
    tried("mptcp", mptcp.map(drop).map_err(Into::into));
    tried("pair", UnixStream::pair().map(drop));
    let (Ok(proxy), Ok(allowed)) = (std::env::var("HTTPS_PROXY"), std::env::var("ALLOWED")) else {
        return;
    };
    let proxy = url::Url::parse(&proxy).unwrap();
    let address = (proxy.host_str().unwrap(), proxy.port().unwrap());
    let ask = |start: &str, password: &str| {
        use base64::Engine as _;
        let pair = format!("{}:{password}", proxy.username());
        let credential = base64::engine::general_purpose::STANDARD.encode(pair);
        let mut stream = TcpStream::connect(address).unwrap();
        let request =
            format!("{start} HTTP/1.1\r\nProxy-Authorization: Basic {credential}\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = [0; 4096];
        let length = stream.read(&mut answer).unwrap();
        let answer = String::from_utf8_lossy(&answer[..length]).into_owned();
        answer.lines().next().unwrap_or_default().to_owned()
    };
    let password = proxy.password().unwrap();
    say("forward", &ask(&format!("GET http://{allowed}/"), password));
    say("tunnel", &ask(&format!("CONNECT {allowed}"), password));
    say("elsewhere", &ask(&format!("CONNECT {tcp}"), password));
    say("stranger", &ask(&format!("CONNECT {allowed}"), "wrong"));
}
