package auth

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// Address records the client's address of a request, if the proxies in front of the portal are configured: the last
// address in X-Forwarded-For that is not one of theirs. Without proxies nothing is recorded, since all requests may
// come from one address. It must see the header before StripHeaders.
func Address(proxies []netip.Prefix) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		if len(proxies) == 0 {
			return next
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ctx := context.WithValue(r.Context(), addressKey, client(r, proxies))
			next.ServeHTTP(w, r.WithContext(ctx))
		})
	}
}

// AddressOf returns the client's address for rate limits: an IPv4 address, or the network of an IPv6 client, because
// one client has more IPv6 addresses than can be counted. It returns "" if the address is not known.
func AddressOf(ctx context.Context) string {
	address, _ := ctx.Value(addressKey).(string)
	return address
}

// ipv6Client is the prefix length of an IPv6 client's network.
const ipv6Client = 64

// client goes back from the connection through the trusted proxies to the first other address. An address that does not
// parse was not written by a trusted proxy: the client is then the one that passed it on.
func client(r *http.Request, proxies []netip.Prefix) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return ""
	}
	at, err := netip.ParseAddr(host)
	if err != nil {
		return ""
	}
	said := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(said) - 1; i >= 0 && trusted(at, proxies); i-- {
		before, err := netip.ParseAddr(strings.TrimSpace(said[i]))
		if err != nil {
			break
		}
		at = before
	}
	at = at.Unmap().WithZone("")
	if at.Is6() {
		network, _ := at.Prefix(ipv6Client) // never fails: it is shorter than an address
		return network.String()
	}
	return at.String()
}

func trusted(a netip.Addr, proxies []netip.Prefix) bool {
	a = a.Unmap().WithZone("")
	for _, p := range proxies {
		if p.Contains(a) {
			return true
		}
	}
	return false
}
