// Command generate writes the pages of docs that are made of what the code declares: metrics, reasons, the command line
// and the REST API.
package main

import (
	"fmt"
	"os"

	_ "github.com/portico-platform/portico/config/check/metric" // declares those of the installation
	_ "github.com/portico-platform/portico/controllers"         // declares the operator's metrics
	_ "github.com/portico-platform/portico/portal"              // declares the portal's
)

// generated returns the pages by their names; root is the tree.
func generated(root string) (map[string][]byte, error) {
	pages := map[string][]byte{"metrics.md": page()}
	var err error
	if pages["reasons.md"], err = reasons(root); err != nil {
		return nil, err
	}
	if pages["cli-reference.md"], err = commandLine(root); err != nil {
		return nil, err
	}
	pages["rest-reference.md"], err = restAPI()
	return pages, err
}

func main() {
	pages, err := generated(".")
	for name, text := range pages {
		if err == nil {
			err = os.WriteFile("docs/"+name, text, 0o644) //nolint:gosec // a page for everybody
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
