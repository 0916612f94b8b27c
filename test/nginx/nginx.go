// Package nginx runs Debian's nginx for tests: on loopback, with TLS, HTTP/1.1 and HTTP/2, in front of a portal. It
// compresses everything that it can, and uses the default buffer sizes.
package nginx

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/portico-platform/portico/test/stack/process"
)

// Variable names the environment variable with the path of an nginx other than the one on the PATH or the one that
// install.sh has unpacked.
const Variable = "NGINX"

// Path returns the path of nginx; root is the repository's root.
func Path(root string) (string, error) {
	if path := os.Getenv(Variable); path != "" {
		return path, nil
	}
	if path, err := exec.LookPath("nginx"); err == nil {
		return path, nil
	}
	for _, path := range []string{"/usr/sbin/nginx", filepath.Join(root, ".cache/nginx/usr/sbin/nginx")} {
		if path, err := filepath.Abs(path); err == nil && executable(path) {
			return path, nil
		}
	}
	return "", errors.New("nginx is missing: make deps gets it, or apt-get install nginx")
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode()&0o111 != 0
}

// Server is a running nginx.
type Server struct {
	// CAFile is the path of the certificate that signed the server's own.
	CAFile string

	dir       string
	authority *x509.Certificate
	group     *process.Group
	run       *process.Process
}

// Site is one virtual server of nginx.
type Site struct {
	Address  string // where it listens, 127.0.0.1:port
	Upstream string // the address of the portal, host:port
	// Directives replace the location that passes all requests to the portal with nginx's defaults.
	Directives string
}

// Start starts the nginx at path with its own folder, and waits until it responds.
func Start(ctx context.Context, path, dir string, sites ...Site) (*Server, error) {
	s := &Server{CAFile: filepath.Join(dir, "ca.pem"), dir: dir}
	if err := s.certificates(); err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(file, []byte(s.config(sites)), 0o600); err != nil {
		return nil, err
	}
	var err error
	if s.group, err = process.NewGroup(dir, nil); err != nil {
		return nil, err
	}
	s.run = s.group.Add(process.Spec{
		Name: "nginx", Path: path, Args: []string{"-p", dir, "-e", "stderr", "-c", file},
		Ready: func(ctx context.Context) error { return s.ready(ctx, sites) },
	})
	if err := s.run.Start(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("%w\n%s", err, s.Log()), s.group.Close())
	}
	return s, nil
}

// Stop stops nginx.
func (s *Server) Stop() error { return s.group.Close() }

// Log returns the content of its log.
func (s *Server) Log() string {
	text, _ := os.ReadFile(s.run.LogFile()) // an unreadable log counts as empty
	return string(text)
}

// Transport returns a transport that uses HTTP version 1 or 2 and trusts the server.
func (s *Server) Transport(protocol int) *http.Transport {
	pool := x509.NewCertPool()
	pool.AddCert(s.authority)
	t := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, Protocols: new(http.Protocols)}
	t.Protocols.SetHTTP1(protocol == 1)
	t.Protocols.SetHTTP2(protocol == 2)
	return t
}

// FreeAddress returns a free address on loopback.
func FreeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// certificates writes the certificate of an httptest server, which is valid for 127.0.0.1.
func (s *Server) certificates() error {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	s.authority = server.Certificate()
	key, err := x509.MarshalPKCS8PrivateKey(server.TLS.Certificates[0].PrivateKey)
	if err != nil {
		return err
	}
	write := func(path, sort string, der []byte) error {
		return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: sort, Bytes: der}), 0o600)
	}
	return errors.Join(
		write(s.CAFile, "CERTIFICATE", s.authority.Raw), write(filepath.Join(s.dir, "server.key"), "PRIVATE KEY", key),
	)
}

func (s *Server) ready(ctx context.Context, sites []Site) error {
	client := &http.Client{Transport: s.Transport(1), Timeout: time.Second}
	for _, site := range sites {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+site.Address+"/healthz", http.NoBody)
		if err != nil {
			return err
		}
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		_ = resp.Body.Close()
	}
	return nil
}

// config returns Debian's nginx.conf, changed to compress every content type instead of HTML only.
func (s *Server) config(sites []Site) string {
	var b strings.Builder
	b.WriteString(`daemon off;
master_process off;
pid nginx.pid;
worker_processes 1;
events { worker_connections 768; }
http {
	access_log off;
	client_body_temp_path body;
	proxy_temp_path proxy;
	fastcgi_temp_path fastcgi;
	uwsgi_temp_path uwsgi;
	scgi_temp_path scgi;
	sendfile on;
	tcp_nopush on;
	types_hash_max_size 2048;
	default_type application/octet-stream;
	gzip on;
	gzip_types *;
`)
	for _, site := range sites {
		b.WriteString("\tserver {\n\t\tssl_certificate ca.pem;\n\t\tssl_certificate_key server.key;\n")
		fmt.Fprintf(&b, "\t\tlisten %s ssl http2;\n", site.Address)
		b.WriteString(cmp.Or(site.Directives, "\t\tlocation / { proxy_pass http://"+site.Upstream+"; }"))
		b.WriteString("\n\t}\n")
	}
	b.WriteString("}\n")
	return b.String()
}
