//! The operator's proxy, played by a listener on loopback.

use tokio::task::JoinHandle;

use super::*;

/// Takes one connection, hears the request, answers, and tells what it heard.
async fn proxy(answer: Vec<&'static [u8]>) -> (SocketAddr, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let place = listener.local_addr().unwrap();
    let played = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut heard = Vec::new();
        while !heard.ends_with(b"\r\n\r\n") {
            heard.push(stream.read_u8().await.unwrap());
        }
        for piece in answer {
            stream.write_all(piece).await.unwrap();
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        // What follows is the tunnel: sent back as it comes.
        let (mut from, mut to) = stream.split();
        let _ended = tokio::io::copy(&mut from, &mut to).await;
        String::from_utf8(heard).unwrap()
    });
    (place, played)
}

fn through(place: SocketAddr, resolve: ProxyResolve) -> Upstreams {
    let proxy = UpstreamProxy::parse(&format!("http://u:p@{place}"), resolve).unwrap();
    Upstreams { proxy: Some(proxy), ..Default::default() }
}

#[tokio::test]
async fn the_proxy_is_told_the_address_that_was_checked() {
    let (place, played) = proxy(vec![b"HTTP/1.1 200 OK\r\nVia: 1.1 corp\r\n\r\nSERVER SPEAKS FIRST"]).await;
    let dialer =
        dialer(Told::default().with("ok.com", &["93.184.216.34"]), through(place, ProxyResolve::Here));
    let mut dialled = dialer.dial(&permit("ok.com", 443)).await.unwrap();
    assert_eq!(dialled.address, Some("93.184.216.34:443".parse().unwrap()));
    let mut first = [0; 19];
    dialled.stream.read_exact(&mut first).await.unwrap();
    assert_eq!(&first, b"SERVER SPEAKS FIRST");
    drop(dialled);
    let heard = played.await.unwrap();
    assert!(
        heard.starts_with("CONNECT 93.184.216.34:443 HTTP/1.1\r\nHost: 93.184.216.34:443\r\n"),
        "{heard}"
    );
    assert!(heard.contains("Proxy-Authorization: Basic dTpw\r\n"), "{heard}");
}

#[tokio::test]
async fn a_bad_answer_is_refused_before_the_proxy_hears_of_it() {
    let (place, played) = proxy(Vec::new()).await;
    let told = Told::default().with("ok.com", &["93.184.216.34", "10.0.0.1"]);
    let refusal =
        dialer(told, through(place, ProxyResolve::Here)).dial(&permit("ok.com", 443)).await.unwrap_err();
    assert_eq!(refusal.code, Code::Address);
    assert!(!played.is_finished());
    played.abort();
}

#[tokio::test]
async fn by_the_operators_word_the_proxy_is_told_the_name() {
    let (place, played) =
        proxy(vec![b"HTTP/1.0 200", b" Connection established\r\n", b"\r", b"\n", b"x"]).await;
    let mut dialled = dialer(Told::default(), through(place, ProxyResolve::Proxy))
        .dial(&permit("ok.com", 443))
        .await
        .unwrap();
    assert_eq!(dialled.address, None);
    assert_eq!(dialled.stream.read_u8().await.unwrap(), b'x');
    drop(dialled);
    assert!(played.await.unwrap().starts_with("CONNECT ok.com:443 HTTP/1.1\r\nHost: ok.com:443\r\n"));
}

#[tokio::test]
async fn a_proxy_that_says_no_or_nonsense_is_told() {
    for (answer, told) in [
        (&b"HTTP/1.1 403 Forbidden\r\n\r\n"[..], "403"),
        (b"HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\n\r\n", "407"),
        (b"SSH-2.0-x\r\n\r\n", "not HTTP/1"),
        (b"HTTP/1.1 2000 OK\r\n\r\n", "not HTTP/1"),
        (b"HTTP/1.1 2", "not within"),
    ] {
        let (place, played) = proxy(vec![answer]).await;
        let settings = DialSettings { connect: Duration::from_millis(1500), ..Default::default() };
        let dialer = Dialer::new(
            Arc::new(Told::default()),
            OwnAddresses::open().unwrap(),
            through(place, ProxyResolve::Proxy),
            settings,
        );
        let refusal = dialer.dial(&permit("ok.com", 443)).await.unwrap_err();
        assert!(matches!(refusal.code, Code::Proxy | Code::Connect), "{refusal}");
        assert!(refusal.message.contains(told), "{told}: {refusal}");
        assert!(!refusal.message.contains("dTpw"), "{refusal}");
        played.abort();
    }
}

#[tokio::test]
async fn an_answer_without_end_is_not_read_for_ever() {
    static LONG: [u8; 20_000] = [b'a'; 20_000];
    let (place, played) = proxy(vec![b"HTTP/1.1 200 OK\r\nX: ", &LONG]).await;
    let refusal = dialer(Told::default(), through(place, ProxyResolve::Proxy))
        .dial(&permit("ok.com", 443))
        .await
        .unwrap_err();
    assert!(refusal.code == Code::Proxy && refusal.message.contains("no end"), "{refusal}");
    played.abort();
}

#[tokio::test]
async fn a_proxy_by_name_may_not_be_this_machine_or_metadata() {
    for (address, refused) in
        [("10.1.2.3", false), ("127.0.0.1", true), ("169.254.169.254", true), ("::ffff:10.1.2.3", true)]
    {
        let proxy = UpstreamProxy::parse("http://proxy.corp:3128", ProxyResolve::Proxy).unwrap();
        let upstreams = Upstreams { proxy: Some(proxy), ..Default::default() };
        let way = dialer(Told::default().with("proxy.corp", &[address]), upstreams)
            .way(&permit("ok.com", 443))
            .await;
        assert_eq!(way.is_err(), refused, "{address}: {way:?}");
    }
}

#[tokio::test]
async fn a_pinned_name_does_not_take_the_proxy() {
    let mut upstreams = through("127.0.0.1:9".parse().unwrap(), ProxyResolve::Proxy);
    upstreams.pin(name("ghe.corp"), Pinned::parse(&name("ghe.corp"), "10.1.2.3:443", false).unwrap());
    let way = dialer(Told::default(), upstreams).way(&permit("ghe.corp", 443)).await.unwrap();
    assert_eq!(way, Way::Pinned("10.1.2.3:443".parse().unwrap()));
}
