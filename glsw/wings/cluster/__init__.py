"""Clusters of Dask and MPI: workers of other hosts."""

WORKERS = {"distributed": "glsw.wings.cluster.dask_workers"}
OPTIONS = {
    "glsw.wings.cluster.options": ("search running", "neighbors running", "motifs running"),
}
