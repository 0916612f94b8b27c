// Package monitoring tests the configuration for other programs: Prometheus' rules, Grafana's dashboards, and the
// health checks of Argo CD and Flux, each with that program's own code. It is a separate module, so that these
// dependencies do not affect the versions in the product.
package monitoring
