package form

import (
	"net/url"
	"strings"
	"testing"

	"github.com/portico-platform/portico/portal/catalog/catalogtest"
)

// A request for a hostname without a name is named after the hostname's first label.
func TestAHostnameNamesItsRequest(t *testing.T) {
	kinds := catalogtest.Kinds(t)
	hostname, _ := kinds.ByName("GatewayHostnameRequest")
	bucket, _ := kinds.ByName("S3Bucket")
	for entered, want := range map[string]string{
		"shop.payments.example.com": "shop", "*.Shop.payments.example.com": "shop", "a_b.example.com": "", "": "",
		strings.Repeat("a", 64) + ".example.com": "",
	} {
		d := Decode(hostname, url.Values{"spec.hostname": {entered}}, payments)
		missing := len(d.Unread) > 0 && d.Unread[0].Field == NameField
		if got := d.Object.GetName(); got != want || missing != (want == "") {
			t.Errorf("a request for %q is called %q (asked for a name: %v), want %q", entered, got, missing, want)
		}
	}
	if d := Decode(hostname, url.Values{NameField: {"mine"}, "spec.hostname": {"shop.example.com"}},
		payments); d.Object.GetName() != "mine" {
		t.Errorf("the name that was given became %q", d.Object.GetName())
	}
	if d := Decode(bucket, url.Values{"spec.bucketName": {"shop"}}, payments); d.Object.GetName() != "" {
		t.Errorf("a bucket without a name is called %q", d.Object.GetName())
	}
}
