//! Randomisers made ahead of time, while the network or the peer is busy.

use std::fmt;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::JoinHandle;

use super::{PublicKey, Randomiser};
use crate::Error;
use crate::math::Randomness;

/// A bounded stock of [`Randomiser`]s that one background thread keeps full. The thread ends when
/// the pool is dropped, after the batch at hand (some tens of milliseconds).
pub struct Pool {
    stock: Option<Receiver<Randomiser>>,
    worker: Option<JoinHandle<()>>,
}

impl Pool {
    /// Starts filling, up to `capacity` (and the batch being made). The randomness comes only from
    /// the operating system.
    ///
    /// # Errors
    /// [`Error::SourceFailed`] if the operating system gives no randomness, [`Error::PoolStopped`]
    /// if no thread can be started.
    pub fn start(key: &PublicKey, capacity: usize) -> Result<Self, Error> {
        let mut rng = Randomness::from_os()?;
        let key = key.clone();
        let (sender, stock) = sync_channel(capacity);
        let fill = move || {
            loop {
                let batch = key.randomiser_batch(&mut rng);
                // An error means that the pool was dropped.
                if batch.into_iter().any(|randomiser| sender.send(randomiser).is_err()) {
                    return;
                }
            }
        };
        let worker = std::thread::Builder::new().spawn(fill).map_err(|_| Error::PoolStopped)?;
        Ok(Self { stock: Some(stock), worker: Some(worker) })
    }

    /// The next randomiser; waits if the stock is empty.
    ///
    /// # Errors
    /// [`Error::PoolStopped`] if the thread has ended.
    pub fn take(&self) -> Result<Randomiser, Error> {
        self.stock.as_ref().and_then(|stock| stock.recv().ok()).ok_or(Error::PoolStopped)
    }

    /// The next randomiser if one is ready.
    pub fn try_take(&self) -> Option<Randomiser> {
        self.stock.as_ref().and_then(|stock| stock.try_recv().ok())
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.stock = None;
        if let Some(worker) = self.worker.take() {
            // A panic in the worker has been reported by its thread already.
            let _ = worker.join();
        }
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pool(..)")
    }
}
