// Package stack starts the whole platform on loopback, both for `make run` and for the tests. Its parts are processes
// built from source (etcd, kube-apiserver, kube-controller-manager, kube-scheduler, kwok, Dex, the operator, the
// portal), moto from .venv, and, in this process, the AWS proxy.
//
//	s, err := stack.Start(ctx, stack.Options{Root: root, Parts: stack.ControlPlane | stack.AWS})
//	defer s.Close()
//
// Start builds what is missing or out of date, ends what a killed run left behind, and returns when each part is
// ready. A part can be stopped, killed and restarted individually (Part); it keeps its port and its data.
//
// Nodes are simulated: kwok simulates the kubelets, and a Pod's containers run nothing, except those of an installation
// of Portico, which package pods runs as processes. The image decides how a Pod fails: an image whose name without
// registry, folder and tag is broken-pull, broken-crash, broken-memory, broken-readiness, broken-startup, broken-root,
// broken-secret, broken-configmap or broken-disk shows the status and the events that a kubelet writes for such a
// container; every other image runs and is ready at once. Logs are read through the API server as in any cluster:
// running containers share one log that grows, failing ones have the logs in the folder logs.
//
// Gateways get load balancers of the AWS simulator: package albsim simulates the AWS Load Balancer Controller, in
// this process. Gateway API's CRDs come from its Go module.
//
// Only the controllers of Kubernetes and their simulators have administrator permissions: the operator and the portal
// have their own ServiceAccounts, the sample users their own certificates, so the RBAC of config/rbac is in force as
// in production.
package stack
