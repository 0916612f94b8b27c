package stack

import (
	"net/http"
	"net/http/httputil"
	"net/url"
)

func newProxy(upstream string) (operator, outside http.Handler, err error) {
	u, err := url.Parse(upstream)
	if err != nil {
		return nil, nil, err
	}
	p := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(u); r.Out.Host = r.In.Host }}
	return p, p, nil
}
