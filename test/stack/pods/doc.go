// Package pods simulates the kubelet of one Node: each Pod that is bound to it runs as processes of this machine, from
// programs instead of images. A process gets what its container specifies: arguments, environment, mounted Secrets,
// ConfigMaps and tokens, its own address, probes, a grace period. Containers are not confined, so mounts are in a
// folder of the Pod, and paths of mounts in the container's settings are replaced by paths in that folder. No process
// finds the mounted token by itself, so it gets a kubeconfig. A container that is not ready after two minutes is
// restarted, where a kubelet would leave that to its startup probe: a stack that does not start should end with a
// reason.
package pods
