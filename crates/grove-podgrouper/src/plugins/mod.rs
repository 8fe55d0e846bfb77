//! The plugins: one file for each kind of workloads, or for kinds that are grouped alike.

mod kubeflow;
