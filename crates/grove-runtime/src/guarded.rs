//! Lets one malformed object fail alone instead of failing the list or watch it is part of.

use std::borrow::Cow;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::core::DeserializeGuard;
use kube::core::DynamicResourceScope;
use kube::core::error_boundary::InvalidObject;
use kube::{Api, Resource};
use serde::{Deserialize, Deserializer};

use crate::cache::Cached;

/// kube's [`DeserializeGuard`] without a fixed scope, because generic code cannot name the scope of `K`.
#[derive(Clone, Debug)]
pub(crate) struct Guarded<K>(DeserializeGuard<K>);

impl<K: Cached> Guarded<K> {
    /// The same collection as `api`, guarded.
    pub(crate) fn api(api: Api<K>) -> Api<Self> {
        match api.namespace().map(str::to_owned) {
            Some(namespace) => Api::namespaced_with(api.into_client(), &namespace, &()),
            None => Api::all(api.into_client()),
        }
    }

    /// The object, or what is known of it although it cannot be decoded.
    pub(crate) fn open(self) -> Result<K, Box<InvalidObject>> {
        self.0.0.map_err(Box::new)
    }
}

impl<'de, K: Resource + Deserialize<'de>> Deserialize<'de> for Guarded<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        DeserializeGuard::deserialize(deserializer).map(Self)
    }
}

impl<K: Resource> Resource for Guarded<K> {
    type DynamicType = K::DynamicType;
    type Scope = DynamicResourceScope;

    fn kind(dt: &Self::DynamicType) -> Cow<'_, str> {
        K::kind(dt)
    }

    fn group(dt: &Self::DynamicType) -> Cow<'_, str> {
        K::group(dt)
    }

    fn version(dt: &Self::DynamicType) -> Cow<'_, str> {
        K::version(dt)
    }

    fn plural(dt: &Self::DynamicType) -> Cow<'_, str> {
        K::plural(dt)
    }

    fn meta(&self) -> &ObjectMeta {
        self.0.meta()
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        self.0.meta_mut()
    }
}
