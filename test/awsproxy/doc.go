// Package awsproxy is the only way by which Portico reaches the AWS simulator
// (moto), in tests and in `make run`. It journals every call, injects faults by
// rule, adds latency, and supplies what the simulator lacks, so that what
// passes against it would pass against AWS.
//
// There are three ways in. [Proxy.Operator] is for the controllers under test:
// faults, latency and hooks apply. [Proxy.Outside] is for tests, and people, who
// act behind the operator's back, and [Proxy.Workload] for applications: they are
// as strict, but never disturbed.
//
// Signatures are not verified; that a request is signed, recently, with an
// access key that exists, is. The account of a call follows from its key.
//
// What is stricter than the simulator lives in one file (or a few) per service,
// listed in services.go. Three of them hang together: Route 53, by whose public
// zones ACM issues certificates, and Elastic Load Balancing, which takes issued
// ones only and keeps ACM from deleting them. Moto is asked for what there is;
// the proxy keeps only what moto cannot: when a change or a certificate was asked
// for, what a token was used for, and what a test forces.
package awsproxy
