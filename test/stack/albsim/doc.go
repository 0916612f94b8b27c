// Package albsim is a simulator of the AWS Load Balancer Controller, for the local stack and its tests, where the real
// one does not run. The operator does not know it from the real one.
//
// It takes the Gateways whose GatewayClass names gateway.k8s.aws/alb, makes an Application Load Balancer with listeners,
// certificates, rules and target groups of each, through the AWS API, and writes the status of Gateways, ListenerSets,
// HTTPRoutes and GRPCRoutes. What it does and what it leaves out follows measurements of version 3.5 of the controller:
//
//   - certificates come from LoadBalancerConfigurations only, and are detached before others are attached;
//   - a listener exists while a route is attached to its port;
//   - whatever AWS refuses, and a configuration that is not there, fails the whole Gateway: Accepted is False with the reason
//     Invalid and no details, an event has them; Programmed, the listeners and the ListenerSets say what they said, what
//     was built before stays, and it is tried again;
//   - so do more rules than a load balancer has: none of them is changed then;
//   - a Gateway with routes attached is not deleted before these are gone.
//
// It does not: discover certificates by hostname, register targets, make security groups, read other fields of
// LoadBalancerConfiguration, or serve a single request.
package albsim
