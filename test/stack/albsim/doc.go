// Package albsim is a simulator of the AWS Load Balancer Controller, for the local stack and its tests, where the real
// one does not run. The operator does not know it from the real one.
//
// It takes the Gateways whose GatewayClass names gateway.k8s.aws/alb, makes an Application Load Balancer with
// listeners, certificates, rules and target groups of each, through the AWS API, and writes the status of Gateways,
// ListenerSets, HTTPRoutes and GRPCRoutes. What it does and what it leaves out follows measurements of version 3.5 of
// the controller:
//
//   - certificates come from LoadBalancerConfigurations only, and are detached before others are attached;
//   - a listener exists while a route is attached to its port;
//   - whatever AWS refuses, and a configuration that is not there, fails the whole Gateway: Accepted is False with the reason
//     Invalid and no details, an event has them; Programmed, the listeners and the ListenerSets say what they said, what
//     was built before stays, and it is tried again;
//   - so does a route with a wildcard in a path prefix or in a redirect's path, with a filter other than redirects and rewrites, or with a
//     target group of a name that the account has not; the route itself says that it is accepted;
//   - a weight over 999 keeps the controller from reading the routes: it does nothing then, and says nothing, of no route of the Gateway,
//     while the Gateway says what it said;
//   - each route has a target group of its own for each port of a Service that it names;
//   - rules are moved to their places, then changed where they are, then made and removed, one call for each: what AWS refuses stops it
//     half way, and at the most rules of a load balancer it removes one for each that it makes;
//   - a rule without a backend answers 500;
//   - the default certificate is listed once more, among the others;
//   - a LoadBalancerConfiguration that a Gateway names has a finalizer;
//   - the Lease aws-load-balancer-controller-leader is renewed while it runs;
//   - a Gateway with routes attached is not deleted before these are gone.
//
// It does not: discover certificates by hostname, register targets, make security groups, rewrite requests, read other
// fields of LoadBalancerConfiguration, or serve a single request.
package albsim
