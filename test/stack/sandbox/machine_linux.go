package sandbox

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

// Resolver returns the resolv.conf of the sandbox.
func Resolver() string { return filepath.Join(Folder, "resolv.conf") }

const machineVariable = "PORTICO_SANDBOX_MACHINE"

func machineName() string { return os.Getenv(machineVariable) }

// Machine has namespaces of its own inside the sandbox, and a network interface.
type Machine struct {
	Name string
	// Folder is the machine's own, on disk.
	Folder string
	// Cgroup is that of everything on the machine, in every hierarchy.
	Cgroup string

	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
}

// Link is how a machine is connected to a bridge in the sandbox's network.
type Link struct {
	Bridge string
	// Addresses with the lengths of their networks, and the addresses of the gateways.
	Addresses, Gateways []string
}

// NewMachine makes a machine.
func NewMachine(ctx context.Context, name string, link Link) (*Machine, error) {
	m := &Machine{
		Name: name, Folder: filepath.Join(Folder, "machines", name), Cgroup: filepath.Join(Cgroup, name),
		done: make(chan struct{}),
	}
	if err := makeCgroups(m.Cgroup); err != nil {
		return nil, err
	}
	started := make(chan error)
	go m.hold(started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("make the machine %s: %w", name, err)
	}
	if err := m.connect(ctx, link); err != nil {
		return nil, errors.Join(err, m.Kill())
	}
	return m, nil
}

// hold starts the machine's first process and waits for its end, in one thread: the process ends with that.
func (m *Machine) hold(started chan<- error) {
	runtime.LockOSThread()
	defer close(m.done)
	m.cmd = again(roleMachine, append(os.Environ(), machineVariable+"="+m.Name))
	m.cmd.SysProcAttr = namespaces()
	m.cmd.Stdout = nil
	out, err := m.cmd.StdoutPipe()
	if err == nil {
		err = m.cmd.Start()
	}
	if err != nil {
		started <- err
		return
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if said := strings.TrimSpace(line); said != "" {
		err = errors.New(said)
	}
	started <- err
	_ = m.cmd.Wait()
}

// connect gives the machine an interface eth0, whose other end is in the bridge.
func (m *Machine) connect(ctx context.Context, link Link) error {
	outer := "to-" + m.Name
	commands := []string{
		fmt.Sprintf("ip link add %s type veth peer name eth0 netns %d", outer, m.pid()),
		fmt.Sprintf("ip link set %s master %s up", outer, link.Bridge),
	}
	inside := []string{
		"ip link set lo up", "ip link set eth0 up",
		"sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1",
	}
	for _, address := range link.Addresses {
		inside = append(inside, "ip address add "+address+" dev eth0 nodad")
	}
	for _, gateway := range link.Gateways {
		inside = append(inside, "ip route add default via "+gateway)
	}
	for _, command := range inside {
		path, args := m.Inside("sh", "-c", command)
		commands = append(commands, path+" "+quoted(args))
	}
	return Shell(ctx, commands...)
}

// Shell runs commands in the sandbox, one after the other.
func Shell(ctx context.Context, commands ...string) error {
	for _, command := range commands {
		out, err := exec.CommandContext(ctx, "sh", "-c", command).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s: %w: %s", command, err, strings.TrimSpace(string(out)))
		}
	}
	return nil
}

func quoted(args []string) string {
	all := make([]string, len(args))
	for i, arg := range args {
		all[i] = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
	}
	return strings.Join(all, " ")
}

func (m *Machine) pid() int { return m.cmd.Process.Pid }

// Inside returns the program and the arguments that run a program on the machine.
func (m *Machine) Inside(path string, args ...string) (string, []string) {
	return "nsenter", append([]string{"-t", strconv.Itoa(m.pid()), "-n", "-m", "-p", "--", path}, args...)
}

// Kill ends everything on the machine at once, as a power failure does.
func (m *Machine) Kill() error {
	err := m.cmd.Process.Signal(syscall.SIGKILL)
	<-m.done
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}

// Command runs a program in the sandbox.
func Command(ctx context.Context, path string, args ...string) error {
	out, err := exec.CommandContext(ctx, path, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", path, err, strings.TrimSpace(string(out)))
	}
	return nil
}
