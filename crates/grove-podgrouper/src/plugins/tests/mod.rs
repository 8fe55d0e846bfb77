mod batch;
mod kubeflow;
mod simple;
