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
    grove::Grove,
    job::BatchJob,
    job_set::JobSet,
    knative::Knative,
    kubeflow::{JAX, TENSORFLOW, XGBOOST},
    leader_worker_set::LeaderWorkerSet,
    mpi::Mpi,
    notebook::Notebook,
    pod::PodPlugin,
    pytorch::PyTorchJob,
    ray::Ray,
    runai_job::RunaiJob,
    spot_request::SpotRequest,
};

#[cfg(test)]
mod tests;
