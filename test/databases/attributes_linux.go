package databases

import "syscall"

// attributes returns those of a server's process: it ends with this one.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
