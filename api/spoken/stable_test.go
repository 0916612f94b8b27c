package spoken

import (
	"strings"
	"testing"
)

func TestStableTextsAreTheSameForEachTry(t *testing.T) {
	const digest = "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
	for name, row := range map[string]struct {
		tries []string
		want  string
	}{
		"a connection that is reset": {
			[]string{
				`Get "https://registry.example.com/v2/": read tcp 10.244.0.5:43210->192.0.2.7:443: read: connection reset by peer`,
				`Get "https://registry.example.com/v2/": read tcp 10.244.0.5:51234->192.0.2.8:443: read: connection reset by peer`,
				`Get "https://registry.example.com/v2/": read tcp [fd00::5]:51234->[2001:db8::7]:443: read: connection reset by peer`,
			},
			`Get "https://registry.example.com/v2/": read tcp: read: connection reset by peer`,
		},
		"one of several addresses that times out": {
			[]string{
				`Head "https://registry.example.com/v2/shop/manifests/1.0": dial tcp 192.0.2.7:443: i/o timeout`,
				`Head "https://registry.example.com/v2/shop/manifests/1.0": dial tcp 192.0.2.9:443: i/o timeout`,
			},
			`Head "https://registry.example.com/v2/shop/manifests/1.0": dial tcp: i/o timeout`,
		},
		"a server without a name": {
			[]string{
				`dial tcp 10.0.0.9:2379: connect: connection refused`,
				`dial tcp4 10.0.0.5:41000->10.0.0.9:2379: connect: connection refused`,
			},
			`dial tcp 10.0.0.9:2379: connect: connection refused`,
		},
		"a connection without an URL": {
			[]string{
				`failed to copy: read tcp 10.244.0.5:43210->192.0.2.7:443: read: connection reset by peer`,
				`failed to copy: read tcp 10.244.0.5:51234->192.0.2.7:443: read: connection reset by peer`,
			},
			`failed to copy: read tcp 192.0.2.7:443: read: connection reset by peer`,
		},
		"a proxy that is away": {
			[]string{`Get "https://registry.example.com/v2/": proxyconnect tcp: dial tcp 10.0.0.9:3128: connect: connection refused`},
			`Get "https://registry.example.com/v2/": proxyconnect tcp: dial tcp 10.0.0.9:3128: connect: connection refused`,
		},
		"an address with a query that is no secret": {
			[]string{`Get "https://registry.example.com/token?scope=repository:shop:pull&service=registry": 401 Unauthorized`},
			`Get "https://registry.example.com/token?scope=repository:shop:pull&service=registry": 401 Unauthorized`,
		},
		"other signatures": {
			[]string{`https://b.s3.amazonaws.com/a?X-Amz-Date=1&X-Amz-Signature=s3cret https://b.blob.core.windows.net/a?se=2&sig=s3cret%3D https://cdn/a?verify=17-s3cret`},
			`https://b.s3.amazonaws.com/a?… https://b.blob.core.windows.net/a?… https://cdn/a?…`,
		},
		"words after them": {
			[]string{`the request id is missing, request ID 0a1b2c3d4e5f`},
			`the request id is missing, request ID …`,
		},
		"a name that does not resolve": {
			[]string{`dial tcp: lookup registry.invalid on 10.96.0.10:53: no such host`},
			`dial tcp: lookup registry.invalid on 10.96.0.10:53: no such host`,
		},
		"a DNS server that is away": {
			[]string{
				`dial tcp: lookup registry.example.com: read udp 10.0.0.4:41234->10.96.0.10:53: i/o timeout`,
				`dial tcp: lookup registry.example.com: read udp 10.0.0.4:52345->10.96.0.10:53: i/o timeout`,
			},
			`dial tcp: lookup registry.example.com: read udp 10.96.0.10:53: i/o timeout`,
		},
		"a signed address": {
			[]string{
				`Get "https://cdn.example.com/layers/a?Expires=1760000000&Signature=s3cret~x&Key-Pair-Id=K1": EOF`,
				`Get "https://cdn.example.com/layers/a?Expires=1760000301&Signature=s3cret~y&Key-Pair-Id=K1": EOF`,
			},
			`Get "https://cdn.example.com/layers/a?…": EOF`,
		},
		"IDs of requests": {
			[]string{
				`StatusCode: 400, RequestID: 6d3c0e1a-6f3e-4b51-9d3d-0d9f6e0e3c11, TooManyListeners: too many`,
				`StatusCode: 400, RequestID: 0a1b2c3d-1111-2222-3333-444455556666, TooManyListeners: too many`,
			},
			`StatusCode: 400, RequestID: …, TooManyListeners: too many`,
		},
		"other ways to write them": {
			[]string{`(Service: S3; Request ID: TX1; host id: abc=) trace-id: 9f8e`},
			`(Service: S3; Request ID: …; host id: …) trace-id: …`,
		},
		"a rate": {
			[]string{
				`toomanyrequests: retry-after: 412.5µs, allowed: 44000/minute`,
				`toomanyrequests: retry-after: 91ms, allowed: 44000/minute`,
			},
			`toomanyrequests: retry-after: …, allowed: 44000/minute`,
		},
		"a certificate that has expired": {
			[]string{
				`x509: certificate has expired or is not yet valid: current time 2026-11-28T21:00:01Z is after 2026-11-01T00:00:00Z`,
				`x509: certificate has expired or is not yet valid: current time 2026-11-28T21:05:01Z is after 2026-11-01T00:00:00Z`,
			},
			`x509: certificate has expired or is not yet valid: the current time is after 2026-11-01T00:00:00Z`,
		},
		"the folder of a Pod": {
			[]string{`mount /var/lib/kubelet/pods/6d3c0e1a-6f3e-4b51-9d3d-0d9f6e0e3c11/volumes failed`},
			`mount /var/lib/kubelet/pods/…/volumes failed`,
		},
		"a key that is named by its ID": {
			[]string{`arn:aws:kms:eu-west-1:111122223333:key/6d3c0e1a-6f3e-4b51-9d3d-0d9f6e0e3c11 is disabled since 2026-11-28T21:00:01Z`},
			`arn:aws:kms:eu-west-1:111122223333:key/6d3c0e1a-6f3e-4b51-9d3d-0d9f6e0e3c11 is disabled since 2026-11-28T21:00:01Z`,
		},
		"the folder of a container": {
			[]string{`open /run/containerd/io.containerd.runtime.v2.task/k8s.io/` + digest[7:] + `/log.json: no such file`},
			`open /run/containerd/io.containerd.runtime.v2.task/k8s.io/…/log.json: no such file`,
		},
		"a container and a digest": {
			[]string{`name "app" is reserved for "` + digest[7:] + `", image ` + digest},
			`name "app" is reserved for "` + digest[7:] + `", image ` + digest,
		},
		"what holds stays": {
			[]string{`failed to pull and unpack image "registry.example.com:5000/shop:1.0.0": not found, request idle`},
			`failed to pull and unpack image "registry.example.com:5000/shop:1.0.0": not found, request idle`,
		},
	} {
		for _, try := range row.tries {
			if got := Stable(try); got != row.want {
				t.Errorf("%s: Stable(%q) = %q, want %q", name, try, got, row.want)
			}
		}
	}
}

func TestALongTextIsCutBeforeItIsMatched(t *testing.T) {
	for _, part := range []string{
		"read tcp 1.1.1.1:1->[", "dial tcp [", "read udp [::1]:1->[", "https://a?b ", `https://a": dial tcp 1`, "request id ", "x", "é",
		"https://a?sig=s3cret-", "current time ", "retry-after 1",
	} {
		hostile := strings.Repeat(part, 64<<10/len(part))
		got := Stable(hostile)
		if want := Stable(Cut(hostile, mostStable)); got != want || len(got) > 2*mostStable {
			t.Errorf("%q, repeated: %d bytes, want what the first %d bytes give", part, len(got), mostStable)
		}
	}
}
