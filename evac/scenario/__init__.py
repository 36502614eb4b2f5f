"""Reading what is to be replayed: clusters as Kubernetes manifests, events as EventBridge sends them."""
