//! Reads what the server has now, where a cache may be behind.

use kube::{api::ListParams, core::ObjectList};

use super::{Collection, What, WriteError, Writer};
use crate::cache::Cached;

/// Objects of one answer.
const PAGE: u32 = 500;

impl Writer {
    /// All objects of the kind that `label_selector` selects, in `namespace` (`""` for all).
    pub async fn list<V: Cached>(&self, namespace: &str, label_selector: &str) -> Result<Vec<V>, WriteError> {
        let collection = Collection::of::<V>(namespace);
        let what = What::new(&collection, "list", label_selector);
        let mut params = ListParams::default().labels(label_selector).limit(PAGE);
        let mut all = Vec::new();
        loop {
            let page: ObjectList<V> = self.send(&what, collection.request().list(&params)).await?;
            all.extend(page.items);
            match page.metadata.continue_.filter(|it| !it.is_empty()) {
                Some(token) => params = params.continue_token(&token),
                None => return Ok(all),
            }
        }
    }
}
