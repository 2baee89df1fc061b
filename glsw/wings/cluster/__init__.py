"""Clusters of Dask: workers of other hosts."""
