//go:build !linux

package stack

import "fmt"

// holder returns how to find the process that listens on a port.
func holder(port int) string {
	return fmt.Sprintf("another program (to see which: lsof -nP -iTCP:%d -sTCP:LISTEN)", port)
}
