"""Clusters for the command line: processes on this host, Dask, MPI."""

OPTIONS = {
    "glsw.wings.cluster.options": ("search running", "neighbors running", "motifs running"),
}
