//! A Rust program as many are: reqwest with rustls, which believes the roots of the system. Asks for the URL that is named,
//! with the key of its environment, and prints the answer.

use std::{env, error::Error};

fn main() -> Result<(), Box<dyn Error>> {
    let url = env::args().nth(1).ok_or("no URL is named")?;
    let key = env::var("TOKEN")?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let answer = runtime.block_on(async {
        let request = reqwest::Client::new().get(url).bearer_auth(key);
        request.send().await?.text().await
    })?;
    print!("{answer}");
    Ok(())
}
