//! Sockets, and the messages of System V and POSIX.

use super::Verdict::{Allow, Filtered};
use super::{Call, line};
use crate::seccomp::rules;

pub(super) const CALLS: &[Call] = &[
    line!(SYS_socket, Filtered(&rules::SOCKET), "local, TCP, UDP, and the list of interfaces"),
    line!(SYS_socketpair, Filtered(&rules::SOCKETPAIR), "local pairs"),
    line!(SYS_bind, Allow, "on sockets it could make; the network is the cell's own"),
    line!(SYS_listen, Allow, "on sockets it could make; the network is the cell's own"),
    line!(SYS_accept, Allow, "on sockets it could make; the network is the cell's own"),
    line!(SYS_accept4, Allow, "on sockets it could make; the network is the cell's own"),
    line!(SYS_connect, Allow, "on sockets it could make; the network is the cell's own"),
    line!(SYS_shutdown, Allow, "on sockets it could make; the network is the cell's own"),
    line!(SYS_sendto, Allow, "on sockets it could make"),
    line!(SYS_sendmsg, Allow, "on sockets it could make"),
    line!(SYS_sendmmsg, Allow, "on sockets it could make"),
    line!(SYS_recvfrom, Allow, "on sockets it could make"),
    line!(SYS_recvmsg, Allow, "on sockets it could make"),
    line!(SYS_recvmmsg, Allow, "on sockets it could make"),
    line!(SYS_getsockname, Allow, "on sockets it could make; what harms needs a capability"),
    line!(SYS_getpeername, Allow, "on sockets it could make; what harms needs a capability"),
    line!(SYS_getsockopt, Allow, "on sockets it could make; what harms needs a capability"),
    line!(SYS_setsockopt, Allow, "on sockets it could make; what harms needs a capability"),
    line!(SYS_shmget, Allow, "the ipc namespace is the cell's own"),
    line!(SYS_shmat, Allow, "the ipc namespace is the cell's own"),
    line!(SYS_shmdt, Allow, "the ipc namespace is the cell's own"),
    line!(SYS_shmctl, Allow, "the ipc namespace is the cell's own"),
    line!(SYS_semget, Allow, "the ipc namespace is the cell's own"),
    line!(SYS_semop, Allow, "the ipc namespace is the cell's own"),
    line!(SYS_semtimedop, Allow, "the ipc namespace is the cell's own"),
    line!(SYS_semctl, Allow, "the ipc namespace is the cell's own"),
    line!(SYS_msgget, Allow, "the ipc namespace is the cell's own"),
    line!(SYS_msgsnd, Allow, "the ipc namespace is the cell's own"),
    line!(SYS_msgrcv, Allow, "the ipc namespace is the cell's own"),
    line!(SYS_msgctl, Allow, "the ipc namespace is the cell's own"),
    line!(SYS_mq_open, Allow, "the ipc namespace is the cell's own"),
    line!(SYS_mq_unlink, Allow, "the ipc namespace is the cell's own"),
    line!(SYS_mq_timedsend, Allow, "the ipc namespace is the cell's own"),
    line!(SYS_mq_timedreceive, Allow, "the ipc namespace is the cell's own"),
    line!(SYS_mq_notify, Allow, "the ipc namespace is the cell's own"),
    line!(SYS_mq_getsetattr, Allow, "the ipc namespace is the cell's own"),
];
