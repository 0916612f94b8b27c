// Package albsim simulates the AWS Load Balancer Controller, for the local stack and its tests, where the real one
// does not run. The operator cannot distinguish it from the real one.
//
// It serves the Gateways whose GatewayClass names gateway.k8s.aws/alb: through the AWS API it creates for each an
// Application Load Balancer with listeners, certificates, rules and target groups, and it writes the status of
// Gateways, ListenerSets, HTTPRoutes and GRPCRoutes. What it does and what it leaves out follows measurements of
// version 3.5 of the controller:
//
//   - certificates come from LoadBalancerConfigurations only, and are detached before others are attached;
//   - a listener exists while a route is attached to its port;
//   - a refusal of AWS, and a configuration that does not exist, fails the whole Gateway: Accepted is False with the
//     reason Invalid and no details, which an event has; Programmed, the listeners and the ListenerSets keep their
//     status, the existing AWS resources stay, and it is retried;
//   - so does a route with a wildcard in a path prefix or in a redirect's path, with a filter other than redirects and
//     rewrites, or with a target group by a name that is not in the account; the route itself is accepted;
//   - a weight over 999 keeps the controller from reading the routes: it then does nothing, writes no status of any
//     route of the Gateway, and the Gateway keeps its status;
//   - each route has its own target group for each port of a Service that it names;
//   - rules are moved to their priorities, then changed in place, then created and deleted, with one call for each: a
//     refusal of AWS stops that half way, and at the limit of a load balancer it deletes one rule for each that it
//     creates;
//   - a rule without a backend answers 500;
//   - the default certificate is listed once more, among the others;
//   - a LoadBalancerConfiguration that a Gateway names has a finalizer;
//   - the Lease aws-load-balancer-controller-leader is renewed while it runs;
//   - a Gateway with routes attached is not deleted before these are gone.
//
// Serve serves the requests that reach its load balancers, by the rules that were deployed last: from what DNS says of
// the hostname to a ready Pod.
//
// It does not: discover certificates by hostname, register targets, create security groups, rewrite requests, or read
// other fields of LoadBalancerConfiguration.
package albsim
