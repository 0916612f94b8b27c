package awsproxy

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

const oneChange = `<ChangeResourceRecordSetsRequest><ChangeBatch><Changes><Change><Action>CREATE</Action><ResourceRecordSet><Name>a.one.test</Name><Type>A</Type>` +
	`<TTL>60</TTL><ResourceRecords><ResourceRecord><Value>192.0.2.1</Value></ResourceRecord></ResourceRecords></ResourceRecordSet></Change></Changes></ChangeBatch></ChangeResourceRecordSetsRequest>`

func TestOneBatchIsWorkedOnAtATimeInAZone(t *testing.T) {
	arrived, release := make(chan struct{}, 2), make(chan struct{})
	_, operator := stub(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && strings.Contains(r.URL.Path, "/Z1/") {
			arrived <- struct{}{}
			<-release
		}
		_, _ = io.WriteString(w, "<GetHostedZoneResponse><HostedZone><Id>/hostedzone/"+
			strings.Split(r.URL.Path, "/")[3]+"</Id><Name>one.test.</Name></HostedZone></GetHostedZoneResponse>")
	})
	type answer struct {
		status int
		body   string
	}
	ask := func(zone string) answer {
		resp, body, err := do(t, operator, "route53", http.MethodPost, "/2013-04-01/hostedzone/"+zone+"/rrset/",
			oneChange)
		if err != nil {
			return answer{0, err.Error()}
		}
		return answer{resp.StatusCode, body}
	}
	first := make(chan answer)
	go func() { first <- ask("Z1") }()
	<-arrived
	if w := ask("Z1"); w.status != http.StatusBadRequest || !strings.Contains(w.body, "PriorRequestNotComplete") {
		t.Errorf("a second batch is answered %d %s", w.status, w.body)
	}
	if w := ask("Z2"); w.status != http.StatusOK {
		t.Errorf("a batch for another zone is answered %d %s", w.status, w.body)
	}
	close(release)
	if w := <-first; w.status != http.StatusOK || !strings.Contains(w.body, "<Status>PENDING</Status>") {
		t.Errorf("the first batch is answered %d %s", w.status, w.body)
	}
	if w := ask("Z1"); w.status != http.StatusOK {
		t.Errorf("afterwards a batch is answered %d %s", w.status, w.body)
	}
}
