package pool

import (
	"context"
	"errors"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

func TestThePublicPortOfAClass(t *testing.T) {
	for value, want := range map[string]struct {
		port    int32
		problem bool
	}{
		"": {}, "443": {}, "8443": {port: 8443}, "65535": {port: 65535},
		"0": {problem: true}, "65536": {problem: true}, "https": {problem: true}, "-1": {problem: true},
		strings.Repeat("9", 1000): {problem: true},
	} {
		class := &gatewayv1.GatewayClass{ObjectMeta: metav1.ObjectMeta{Name: "alb", Annotations: map[string]string{
			ClassPublicPort: value,
		}}}
		c := ClassChecker{Reader: cluster(t, interceptor.Funcs{}, class)}
		port, problem, err := c.PublicPort(t.Context(), "alb")
		if err != nil || port != want.port {
			t.Errorf("%.40q: got %d, %v, want %d", value, port, err, want.port)
		}
		if (problem != "") != want.problem || len(problem) > 200 {
			t.Errorf("%.40q: the problem is %q", value, problem)
		}
	}
}

func TestAFailedReadIsNoPort(t *testing.T) {
	away := func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
		return errors.New("the cache is away")
	}
	failing := cluster(t, interceptor.Funcs{Get: away})
	if _, _, err := (ClassChecker{Reader: failing}).PublicPort(t.Context(), "alb"); err == nil {
		t.Error("a failed read is taken for port 443")
	}
}
