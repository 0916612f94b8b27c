// Package monitoring tests what others run on Portico's behalf: Prometheus' rules, Grafana's dashboards, and the health
// checks of Argo CD and Flux, each with the code of those who run it. A module of its own: what they need must not
// decide versions of the product.
package monitoring
