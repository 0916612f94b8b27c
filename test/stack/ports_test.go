package stack

import (
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"
	"testing"
)

func TestPortsAreChosenOnce(t *testing.T) {
	o := &Options{Parts: Everything}
	p, err := new(ports).choose(o)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	all := []int{
		p.etcd, p.apiserver, p.scheduler, p.kwok, p.kubelet, p.moto, p.awsOperator, p.awsOutside, p.dex,
		p.portal,
	}
	for _, port := range all {
		if port < lowPort || port >= highPort || seen[port] {
			t.Errorf("ports %v: %d", all, port)
		}
		seen[port] = true
	}
	none, err := new(ports).choose(&Options{
		Parts: ControlPlane | AWS, AWSEndpoint: "http://elsewhere",
		ExternalKubeconfig: "elsewhere",
	})
	if err != nil || none != (allPorts{}) {
		t.Errorf("nothing of ours, and yet %+v, %v", none, err)
	}
}

func TestTwoPartsCannotShareAPort(t *testing.T) {
	free, err := (&ports{}).pick("", "", 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = new(ports).choose(&Options{Parts: Dex | Portal, Ports: Ports{Dex: free, Portal: free}})
	if taken, ok := errors.AsType[*PortTakenError](err); !ok || taken.Variable != "DEX_PORT" {
		t.Errorf("%v", err)
	}
}

// TestAChosenPortIsNobodyElses checks that a port belongs to the stack that chose it, even before a server listens
// there.
func TestAChosenPortIsNobodyElses(t *testing.T) {
	var first, second ports
	port, err := first.pick("", "", 0)
	if err != nil {
		t.Fatal(err)
	}
	if second.hold(port) {
		t.Fatalf("port %d was given twice", port)
	}
	first.release()
	if !second.hold(port) {
		t.Errorf("port %d was not given back", port)
	}
	second.release()
}

func TestHolderNamesTheProcess(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells")
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	got := holder(l.Addr().(*net.TCPAddr).Port)
	if !strings.HasPrefix(got, fmt.Sprintf("process %d (", os.Getpid())) {
		t.Errorf("%q", got)
	}
}
