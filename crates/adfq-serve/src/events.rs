//! What the page is told without asking: the whole table once, and then what has changed, as server-sent events.

use crate::guard::MOST_WATCHERS;
use crate::runs::Table;
use crate::server::Shared;
use crate::{Error, Result};
use axum::extract::State;
use axum::response::Sse;
use axum::response::sse::{Event, KeepAlive};
use std::convert::Infallible;
use std::sync::Arc;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::mpsc;
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;

/// Tells a page of the runs: an event `table` with all of them, then an event `change` whenever something is different.
///
/// # Errors
///
/// If too many pages are told already.
pub(crate) async fn events(
    State(shared): State<Arc<Shared>>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>> {
    let seat = shared.watchers.clone().try_acquire_owned();
    let seat = seat.map_err(|_| Error::Busy(format!("{MOST_WATCHERS} pages are open")))?;
    let (sender, receiver) = mpsc::channel(4);
    let (mut changes, table) = shared.subscribe();
    tokio::spawn(async move {
        // Dropped with the task, when the page is gone.
        let _seat = seat;
        let mut told = sender.send(Ok(whole(&table))).await;
        while told.is_ok() {
            told = tokio::select! {
                change = changes.recv() => match change {
                    Ok(change) => sender.send(Ok(Event::default().event("change").data(&*change))).await,
                    // A page that was too slow starts again with everything.
                    Err(RecvError::Lagged(_)) => sender.send(Ok(whole(&shared.table()))).await,
                    Err(RecvError::Closed) => return,
                },
                () = sender.closed() => return,
            };
        }
    });
    Ok(Sse::new(ReceiverStream::new(receiver)).keep_alive(KeepAlive::default()))
}

fn whole(table: &Table) -> Event {
    Event::default().event("table").json_data(table).unwrap_or_default()
}
