//! The plugins: one file for each kind of workloads, or for kinds that are grouped alike.

mod grove;
mod job_set;
mod knative;
mod kubeflow;
mod leader_worker_set;
mod pytorch;
mod ray;
#[cfg(test)]
mod shapes;
