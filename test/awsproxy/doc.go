// Package awsproxy is the only path from Portico to the AWS simulator (moto), in tests and in `make run`. It records
// every call in a journal, injects faults by rule, adds latency, and supplies what the simulator lacks, so that what
// passes against it would pass against AWS.
//
// There are three entrances. [Proxy.Operator] is for the controllers under test: faults, latency and hooks apply.
// [Proxy.Outside] is for tests, and people, who act behind the operator's back, and [Proxy.Workload] is for
// applications: both are as strict, but faults, latency and hooks do not apply.
//
// Signatures are not verified. A request must be signed, recently, with an access key that exists; the key determines
// the account of the call.
//
// What is stricter than the simulator is in one package for each service, listed in services.go. Three services depend
// on each other: Route 53, ACM, which issues certificates by the public zones of Route 53, and Elastic Load Balancing,
// which accepts only issued certificates and keeps ACM from deleting them. Moto holds the resources; the proxy keeps
// only what moto cannot: when a change or a certificate was requested, what a token was used for, and what a test
// forces.
package awsproxy
