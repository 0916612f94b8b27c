// Package sandbox runs a program in network, mount and PID namespaces of its own, as root on Linux: what it starts,
// mounts and configures there is invisible outside and ends with it, however it ends.
//
// Main is the whole program. Outside, it makes the cgroups and starts the program again as the first process of the
// namespaces, whose child then runs. A third process, the cleaner, waits until everything has ended, even by SIGKILL,
// and removes the cgroups and the folder. Inside, New makes further namespaces, for a machine of its own in a network
// that the program makes.
package sandbox

// NameServer is the address of the name server that the programs in the sandbox use. One of them has to serve there.
const NameServer = "10.200.0.1"
