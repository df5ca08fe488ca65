//! The tools: each behaves badly in a way of its own.

/// What runs in the cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tool {
    /// Ends when its stdin does.
    Obedient,
    /// Ignores `SIGTERM` and the end of stdin.
    Stubborn,
    /// Leaves daemons behind, each forked twice and in a session of its own, that ignore `SIGTERM` and hold stdout.
    Daemons,
    /// Is frozen from outside.
    Frozen,
    /// Has stopped itself.
    Stopped,
    /// Has many children.
    Crowd,
}

/// Answers whoever reads what it offers, which is nothing.
const SPEAKS: &str = r#"while read -r line; do
    id=$(printf %s "$line" | sed -n 's/.*"id":\("[^"]*"\).*/\1/p')
    info='"serverInfo":{"name":"played","version":"1"}'
    case $line in
      *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-11-25","capabilities":{},'$info'}}';;
      *'"notifications/initialized"'*) break;;
    esac
done;"#;

impl Tool {
    pub(crate) const ALL: [Self; 6] =
        [Self::Obedient, Self::Stubborn, Self::Daemons, Self::Frozen, Self::Stopped, Self::Crowd];

    /// Shell script. It makes the file `up` when it is where it should be; where it is to end `by_itself` it does so
    /// with exit code 3 once there is a file `go`.
    pub(crate) fn script(self, by_itself: bool) -> String {
        let begins = match self {
            Self::Obedient | Self::Frozen | Self::Stopped => "",
            Self::Stubborn => "trap '' TERM INT HUP;",
            Self::Daemons => {
                "daemon() { (setsid sh -c 'trap \"\" TERM HUP; sleep 1000 & wait; sleep 1000' &); }
                 daemon; daemon; daemon;"
            }
            Self::Crowd => "i=0; while [ $i -lt 60 ]; do sleep 1000 & i=$((i+1)); done;",
        };
        let goes_on = match self {
            _ if by_itself => "until [ -e go ]; do sleep 0.05; done; exit 3",
            Self::Obedient | Self::Daemons | Self::Frozen | Self::Crowd => "cat >/dev/null",
            Self::Stubborn => "while :; do sleep 1000; done",
            Self::Stopped => "kill -STOP $$",
        };
        format!("{begins} : >up; {goes_on}")
    }

    /// The same script of a server that can be accepted: where it is only read it may not write, and waits.
    pub(crate) fn server(self, by_itself: bool) -> String {
        format!("{SPEAKS} [ -w . ] || exec cat >/dev/null; {}", self.script(by_itself))
    }

    /// How many processes are in the cell when it is up, PID 1 counted.
    pub(crate) fn processes(self) -> usize {
        match self {
            Self::Obedient | Self::Stubborn | Self::Frozen => 3,
            Self::Stopped => 2,
            // A shell and its first sleep for each daemon.
            Self::Daemons => 3 + 2 * 3,
            Self::Crowd => 3 + 60,
        }
    }

    /// Whether it can end by itself.
    pub(crate) fn can_end(self) -> bool {
        !matches!(self, Self::Frozen | Self::Stopped)
    }

    /// Whether the end of stdin ends it. One frozen from outside is thawed to hear of it.
    pub(crate) fn obeys(self) -> bool {
        !matches!(self, Self::Stubborn | Self::Stopped)
    }
}
