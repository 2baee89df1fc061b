"""The words of the command line for clusters: processes of this host, Dask, MPI."""

OPTIONS = {
    "glsw.wings.cluster.options": ("search running", "neighbors running", "motifs running"),
}
