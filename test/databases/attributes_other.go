//go:build !linux

package databases

import "syscall"

// attributes returns those of a server's process.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
