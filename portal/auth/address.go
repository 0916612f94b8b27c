package auth

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// Address notes from which address a request comes, if the proxies in front of the portal are known: theirs is the last
// word of X-Forwarded-For that is not of one of them. Without proxies nothing is noted, for all may seem to come from
// one. It must see the header before StripHeaders.
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

// AddressOf returns the client's address as rate limits count it: an IPv4 address, or the network of an IPv6 client,
// because one client has more IPv6 addresses than could be counted. It returns "" if the address is not known.
func AddressOf(ctx context.Context) string {
	address, _ := ctx.Value(addressKey).(string)
	return address
}

// ipv6Client is how much of an IPv6 address is a client's network.
const ipv6Client = 64

// client goes back from the connection through the proxies that are trusted, to the first address that is not one of
// them. What cannot be read was not written by a proxy of ours: the one that passed it on is the client then.
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
		network, _ := at.Prefix(ipv6Client) // it is shorter than an address
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
