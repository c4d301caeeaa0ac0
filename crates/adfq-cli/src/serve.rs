//! `adfq serve`: runs in the browser.

use crate::output::{print, say};
use crate::progress::Signalled;
use adfq_deep::Host;
use adfq_env::Modules;
use adfq_serve::{DEFAULT_PORT, Options, Running, Server};
use anyhow::Result;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Show runs in the browser: live curves, beliefs while an agent plays, comparisons, the update to play with
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  adfq serve runs/                     # prints a link to open; Ctrl-C ends it
  adfq serve runs/ --port 8000
  adfq serve runs/ --host 0.0.0.0      # for other machines too: the link then has a token
  adfq train cartpole --serve          # the same beside a training

The folder is only read. Runs that begin, go on or end while it is served appear by themselves.
docs/serve.md describes the pages and the JSON behind them.")]
pub struct Args {
    /// The folder under which runs, recordings and reports are looked for
    #[arg(default_value = "runs")]
    root: PathBuf,
    #[command(flatten)]
    address: AddressArgs,
    #[command(flatten)]
    host: crate::host::HostArgs,
    #[command(flatten)]
    trust: crate::trust::TrustArgs,
}

// What `serve` and `train --serve` have in common. No doc comment: clap would make it the help text of both.
#[derive(clap::Args)]
struct AddressArgs {
    /// The port [default: 7717, or another one if that is taken]
    #[arg(long, value_name = "N")]
    port: Option<u16>,
    /// The address to listen on. Any other than this machine's own needs the token in the link
    #[arg(long = "host", value_name = "ADDRESS", default_value = "127.0.0.1")]
    name: String,
}

pub fn run(args: &Args) -> Result<()> {
    let mut host = args.host.host();
    // There is nobody to ask while an episode is played: what is not installed is run with --trust alone.
    host.registry.gym.modules = if args.trust.trust { Modules::Any } else { Modules::Installed };
    let AddressArgs { port, name } = &args.address;
    let server = Server::bind(&Options {
        port: port.unwrap_or(DEFAULT_PORT),
        any_port: port.is_none(),
        host_name: name.clone(),
        host,
        ..Options::new(&args.root)
    })?;
    let stop = Signalled::listen("ending")?;
    print(&format!("{}\n", server.link()))?;
    say(&format!("serving {}; press Ctrl-C to end", args.root.display()));
    let running = server.start()?;
    while !stop.flag.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(50));
    }
    running.stop();
    Ok(())
}

/// Serves the folder of a training beside it, as long as that goes on. A training is none the worse without.
pub fn beside(root: &Path, host: &Host) -> Option<Running> {
    let mut host = host.clone();
    host.registry.gym.modules = Modules::Installed;
    let options = Options { may_be_missing: true, host, ..Options::new(root) };
    let started = Server::bind(&options).and_then(|server| {
        say(&format!("watch it at {}", server.link()));
        server.start()
    });
    started.inspect_err(|error| say(&format!("warning: the page is not served: {error}"))).ok()
}
