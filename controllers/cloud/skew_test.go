package cloud

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// clocked is an STS whose time is off from ours, and that rejects signatures more than 15 minutes off.
type clocked struct {
	stsServer

	off  time.Duration
	dumb bool // a proxy removes its Date header
}

func (c *clocked) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	now := time.Now().Add(c.off)
	w.Header()["Date"] = nil
	if !c.dumb {
		w.Header().Set("Date", now.UTC().Format(http.TimeFormat))
	}
	signed, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	if err != nil || now.Sub(signed).Abs() > 15*time.Minute {
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte(`<ErrorResponse><Error><Code>SignatureDoesNotMatch</Code><Message>Signature expired: ` +
			signed.String() + ` is now earlier than ` + now.String() + `</Message></Error></ErrorResponse>`))
		return
	}
	c.stsServer.ServeHTTP(w, r)
}

// The SDK corrects for the time in AWS's responses. Where that does not help, the error blames the operator's clock,
// not the key.
func TestAClockThatIsOffIsNamed(t *testing.T) {
	for name, row := range map[string]struct {
		server *clocked
		reason string
	}{
		"ahead, and AWS tells the time":      {&clocked{off: 20 * time.Minute}, ""},
		"behind, and AWS tells the time":     {&clocked{off: -20 * time.Minute}, ""},
		"ahead, and nobody tells the time":   {&clocked{off: 20 * time.Minute, dumb: true}, "ClockSkew"},
		"behind, and nobody tells the time":  {&clocked{off: -time.Hour, dumb: true}, "ClockSkew"},
		"a little, which AWS takes as it is": {&clocked{off: 10 * time.Minute, dumb: true}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := row.server
			s.account.Store("111122223333")
			s.code.Store("")
			server := httptest.NewServer(s)
			defer server.Close()
			ref := &v1alpha1.SecretKeyRef{Name: "aws", Key: "k"}
			sessions := NewSessions(fixedSecrets{"1"}, "cluster", "", &Limiters{Rates: DefaultRates(), Now: time.Now})
			sessions.Endpoints = Endpoints{server.URL}
			_, err := sessions.Verify(t.Context(), &v1alpha1.AWSProvider{
				ObjectMeta: metav1.ObjectMeta{Name: "aws", UID: "p"},
				Spec:       v1alpha1.AWSProviderSpec{Region: "eu-west-1", AccessKeyIDRef: ref, SecretAccessKeyRef: ref, Endpoint: server.URL},
			})
			if row.reason == "" {
				if err != nil {
					t.Errorf("error = %v, want none", err)
				}
				return
			}
			wait, _ := engine.AsWait(err)
			if wait == nil || wait.Reason != row.reason {
				t.Fatalf("error = %v, want %s", err, row.reason)
			}
			const says = "check the clock of the machine that the operator runs on"
			if !strings.Contains(err.Error(), says) {
				t.Errorf("error = %v, want %q in it", err, says)
			}
		})
	}
}
