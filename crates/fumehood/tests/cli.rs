//! The command line as people meet it: the real programs, their words and their exit codes.

mod cli {
    mod audit;
    mod cells;
    mod edge;
    mod ends;
    mod network;
    mod policy;
    mod records;
    mod secrets;
    mod service;
    mod standing;
    mod terminal;
    mod vault;
    mod words;
    mod world;
}
