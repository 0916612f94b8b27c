// Command generate writes docs/metrics.md from the metrics that the operator and the portal declare.
package main

import (
	"fmt"
	"os"

	_ "github.com/portico-platform/portico/config/check/metric" // declares those of the installation
	_ "github.com/portico-platform/portico/controllers"         // declares the operator's metrics
	_ "github.com/portico-platform/portico/portal"              // declares the portal's
)

func main() {
	if err := os.WriteFile("docs/metrics.md", page(), 0o644); err != nil { //nolint:gosec // a page for everybody
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
