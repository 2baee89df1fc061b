"""Who computes: this process, processes of devices, executors."""
