package albconfig

import (
	"encoding/json"
	"testing"
)

// A newer controller may have fields that this version does not declare.
func TestFieldsThatAreNotKnownAreKept(t *testing.T) {
	const text = `{"alpnPolicy":"None","mutualAuthentication":{"mode":"verify"},"protocolPort":"HTTPS:443","quicEnabled":true}`
	var l ListenerConfiguration
	if err := json.Unmarshal([]byte(text), &l); err != nil {
		t.Fatal(err)
	}
	if l.ProtocolPort != "HTTPS:443" || l.ALPNPolicy != "None" || len(l.Others) != 2 {
		t.Fatalf("read %+v, want HTTPS:443, None, and two others", l)
	}
	if got, err := json.Marshal(l); err != nil || string(got) != text {
		t.Errorf("%s, %v", got, err)
	}
}
