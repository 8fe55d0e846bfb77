//! The plugins: one file for each kind of workloads, or for kinds that are grouped alike.

mod aml;
mod cron_job;
mod default;
mod deployment;
mod grove;
mod job;
mod job_set;
mod knative;
mod kubeflow;
mod leader_worker_set;
mod mpi;
mod notebook;
mod pod;
mod pytorch;
mod ray;
mod runai_job;
#[cfg(test)]
mod shapes;
mod spot_request;

pub(crate) use self::{
    aml::Aml,
    cron_job::CronJob,
    default::DefaultPlugin,
    deployment::Deployment,
    job::BatchJob,
    kubeflow::{JAX, TENSORFLOW, XGBOOST},
    mpi::Mpi,
    notebook::Notebook,
    pod::PodPlugin,
    runai_job::RunaiJob,
    spot_request::SpotRequest,
};
pub use self::{
    grove::Grove, job_set::JobSet, knative::Knative, leader_worker_set::LeaderWorkerSet, pytorch::PyTorchJob,
    ray::Ray,
};

#[cfg(test)]
mod tests;
