// Package stack starts the whole platform on loopback, for `make run` and for
// the tests: one mechanism. Its parts are processes built from source (etcd,
// kube-apiserver, kube-controller-manager, kube-scheduler, kwok, Dex, the
// operator, the portal), moto from .venv, and, in this process, the AWS proxy.
//
//	s, err := stack.Start(ctx, stack.Options{Root: root, Parts: stack.ControlPlane | stack.AWS})
//	defer s.Close()
//
// Start builds what is missing or out of date, ends what a killed run left
// behind, and returns when each part answers. A part can be stopped, killed and
// restarted by itself (Part); it keeps its port and its data.
//
// Nodes are simulated: kwok plays the kubelets, and a Pod's containers run
// nothing. The image decides how a Pod fails: one whose name without registry,
// folder and tag is broken-pull, broken-crash, broken-memory, broken-readiness,
// broken-startup, broken-root, broken-secret or broken-configmap shows the status
// and the events that a kubelet writes about such a container; every other one
// runs and is ready at once. Logs are read through the API server as in any cluster: those
// that run share one that grows, those that fail have the ones in logs.
//
// Gateways get load balancers of the AWS simulator: package albsim plays the AWS
// Load Balancer Controller, in this process. Gateway API's CRDs come from its Go
// module.
//
// Nobody but the controllers of Kubernetes, and what plays one, gets the administrator's rights: the
// operator and the portal have their own ServiceAccounts, the sample users their
// own certificates, so the RBAC of config/rbac is in force as in production.
package stack
