package stack

import (
	"errors"
	"net"
	"reflect"
	"testing"
)

// TestDoorsKeepTheirPorts: the listeners that were opened outside are the same inside, with the ports that were chosen.
func TestDoorsKeepTheirPorts(t *testing.T) {
	var outside, inside Ports
	files, err := outside.OpenDoors()
	if err != nil {
		t.Fatal(err)
	}
	listeners, err := inside.Doors(files)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(inside, outside) || len(listeners) != len(outside.Databases)+6 {
		t.Errorf("inside %+v, outside %+v, %d listeners", inside, outside, len(listeners))
	}
	for i, d := range inside.all() {
		conn, err := net.Dial("tcp", loopback(*d.port))
		if err != nil || *d.port == 0 {
			t.Errorf("%s: %v", d.part, err)
			continue
		}
		_ = conn.Close()
		if _, err := listeners[i].Accept(); err != nil {
			t.Errorf("%s: %v", d.part, err)
		}
		_ = listeners[i].Close()
	}
}

// TestADoorThatIsTakenIsNamed with the variable that chooses another port.
func TestADoorThatIsTakenIsNamed(t *testing.T) {
	l, err := net.Listen("tcp", loopback(0))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	p := Ports{Dex: portOf(l)}
	files, err := p.OpenDoors()
	for _, f := range files {
		_ = f.Close()
	}
	if taken := (*PortTakenError)(nil); !errors.As(err, &taken) || taken.Variable != "DEX_PORT" {
		t.Errorf("%v", err)
	}
}
