// Package pods plays the kubelet of one Node: each Pod that is bound to it runs as processes of this machine, from
// binaries in place of images. A process gets what its container asks for: arguments, environment, mounted Secrets,
// ConfigMaps and tokens, an address of its own, probes, a time to end. Containers are not confined, so that mounts lie
// in a folder of the Pod, and what names a mount's path names that folder instead; and as no process finds the mounted
// token by itself, it is told of it by a kubeconfig. A container that is not ready after two minutes is started again,
// where a kubelet would leave it to its startup probe: a stack that does not come up is to end with a reason.
package pods
