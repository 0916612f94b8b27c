package elbv2

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// maxCertificates is the maximum number of certificates of a load balancer, default ones included.
const maxCertificates = 25

func (s *Service) createListener(ctx context.Context, x *wire.Exchange) (*wire.Reply, error) {
	arns := members(x.Form, "Certificates", "CertificateArn")
	secure := x.Form.Get("Protocol") == "HTTPS" || x.Form.Get("Protocol") == "TLS"
	if secure != (len(arns) == 1) {
		return x.Fail(http.StatusBadRequest, "ValidationError", "Exactly one certificate must be specified for HTTPS "+
			"listeners, and none for others"), nil
	}
	listeners, err := s.listeners(ctx, x.Call.Account, x.Call.Region, x.Form.Get("LoadBalancerArn"))
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(listeners, func(l listener) bool { return l.Port == x.Form.Get("Port") }) {
		return x.Fail(http.StatusBadRequest, "DuplicateListener", "A listener already exists on this port for this "+
			"load balancer '"+x.Form.Get("LoadBalancerArn")+"'"), nil
	}
	if refusal, err := s.refuseCertificates(ctx, x, arns, listeners); refusal != nil || err != nil {
		return refusal, err
	}
	return s.refuseTargets(ctx, x, listeners, "")
}

// modifyListener serves ModifyListener. Unlike moto it keeps the certificates other than the default one.
func (s *Service) modifyListener(ctx context.Context, x *wire.Exchange) (*wire.Reply, error) {
	l, err := s.listener(ctx, x.Call.Account, x.Call.Region, x.Form.Get("ListenerArn"))
	if err != nil || l == nil {
		return nil, err // moto reports that it does not exist
	}
	arns := members(x.Form, "Certificates", "CertificateArn")
	if len(arns) > 1 {
		return x.Fail(http.StatusBadRequest, "InvalidConfigurationRequest",
			"You must provide a list containing exactly one certificate if the listener protocol is HTTPS."), nil
	}
	if refusal, err := s.refuseCertificates(ctx, x, arns, nil); refusal != nil || err != nil {
		return refusal, err
	}
	if len(arns) == 1 && len(l.Certificates) > 1 {
		setCertificates(x.Form, append(arns, l.Certificates[1:]...))
		x.SetForm(x.Form)
	}
	listeners, err := s.listeners(ctx, x.Call.Account, x.Call.Region, l.LoadBalancer)
	if err != nil {
		return nil, err
	}
	replaced := ""
	if x.Form.Has("DefaultActions.member.1.Type") {
		replaced = l.ARN
	}
	return s.refuseTargets(ctx, x, listeners, replaced)
}

func (s *Service) addCertificate(ctx context.Context, x *wire.Exchange) (*wire.Reply, error) {
	l, arn, refusal, err := s.oneCertificate(ctx, x)
	if l == nil || refusal != nil || err != nil {
		return refusal, err
	}
	if len(l.Certificates) == 0 {
		return x.Fail(http.StatusBadRequest, "ValidationError", "Certificates can be added to HTTPS listeners only"),
			nil
	}
	added := answer(x, "<Certificates><member><CertificateArn>"+wire.EscapeXML(arn)+
		"</CertificateArn><IsDefault>false</IsDefault></member></Certificates>")
	if slices.Contains(l.Certificates[1:], arn) {
		return added, nil
	}
	listeners, err := s.listeners(ctx, x.Call.Account, x.Call.Region, l.LoadBalancer)
	if err != nil {
		return nil, err
	}
	if refusal, err := s.refuseCertificates(ctx, x, []string{arn}, listeners); refusal != nil || err != nil {
		return refusal, err
	}
	return added, s.putCertificates(ctx, x, l.ARN, append(l.Certificates, arn))
}

// removeCertificate does not remove the default certificate, which moto would remove.
func (s *Service) removeCertificate(ctx context.Context, x *wire.Exchange) (*wire.Reply, error) {
	l, arn, refusal, err := s.oneCertificate(ctx, x)
	if l == nil || refusal != nil || err != nil {
		return refusal, err
	}
	at := -1
	if len(l.Certificates) > 0 {
		at = slices.Index(l.Certificates[1:], arn)
	}
	switch {
	case at >= 0:
		return answer(x, ""), s.putCertificates(ctx, x, l.ARN, slices.Delete(l.Certificates, at+1, at+2))
	case len(l.Certificates) > 0 && l.Certificates[0] == arn:
		return x.Fail(http.StatusBadRequest, "OperationNotPermitted", "The default certificate '"+arn+
			"' cannot be removed from the listener"), nil
	}
	return answer(x, ""), nil
}

// oneCertificate reads the parameters of both calls: a listener, nil if moto should report that it does not exist,
// and one certificate.
func (s *Service) oneCertificate(ctx context.Context, x *wire.Exchange) (
	l *listener, arn string, refusal *wire.Reply, err error,
) {
	arns := members(x.Form, "Certificates", "CertificateArn")
	if len(arns) != 1 {
		return nil, "", x.Fail(http.StatusBadRequest, "ValidationError", "One certificate can be specified per call"),
			nil
	}
	l, err = s.listener(ctx, x.Call.Account, x.Call.Region, x.Form.Get("ListenerArn"))
	return l, arns[0], nil, err
}

// putCertificates sets the listener's certificates, the default one first.
func (s *Service) putCertificates(ctx context.Context, x *wire.Exchange, listener string, arns []string) error {
	form := url.Values{"ListenerArn": {listener}}
	setCertificates(form, arns)
	answered, err := s.ask(ctx, x.Call.Account, x.Call.Region, "ModifyListener", form, nil)
	if err == nil && !answered {
		err = fmt.Errorf("set the certificates of %s: refused", listener)
	}
	return err
}

func setCertificates(form url.Values, arns []string) {
	for i, arn := range arns {
		form.Set(fmt.Sprintf("Certificates.member.%d.CertificateArn", i+1), arn)
	}
}

// refuseCertificates refuses certificates that AWS does not attach, and those that exceed the limit together with the
// certificates of the load balancer's listeners.
func (s *Service) refuseCertificates(ctx context.Context, x *wire.Exchange, arns []string, listeners []listener) (
	*wire.Reply, error,
) {
	for _, arn := range arns {
		if refusal, err := s.refuseCertificate(ctx, x, arn); refusal != nil || err != nil {
			return refusal, err
		}
	}
	count := len(arns)
	for _, l := range listeners {
		count += len(l.Certificates)
	}
	if len(arns) > 0 && count > maxCertificates {
		return x.Fail(http.StatusBadRequest, "TooManyCertificates", "You've reached the limit on the number of "+
			"certificates per load balancer"), nil
	}
	return nil, nil
}

func (s *Service) refuseCertificate(ctx context.Context, x *wire.Exchange, arn string) (*wire.Reply, error) {
	parts := strings.Split(arn, ":") // arn:aws:acm:REGION:ACCOUNT:certificate/ID
	switch {
	case len(parts) == 6 && parts[2] == "iam":
		return nil, nil
	case len(parts) != 6 || parts[2] != "acm":
		return x.Fail(http.StatusBadRequest, "ValidationError", "Certificate ARN '"+arn+"' is not valid"), nil
	}
	status := ""
	if parts[3] == x.Call.Region && parts[4] == x.Call.Account {
		var err error
		if status, err = s.certificates.CertificateStatus(ctx, x.Call.Account, x.Call.Region, arn); err != nil {
			return nil, err
		}
	}
	switch status {
	case "":
		return x.Fail(http.StatusBadRequest, "CertificateNotFound", "Certificate '"+arn+"' not found"), nil
	case "ISSUED":
		return nil, nil
	}
	return x.Fail(http.StatusBadRequest, "UnsupportedCertificate",
		"The certificate '"+arn+"' must have a fully-qualified domain name, a supported signature, and a supported "+
			"key size."), nil
}
