package ec2

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// burstable are the instance types that earn CPU credits.
var burstable = regexp.MustCompile(`^t[2-9][a-z]*[.]`)

// launchCredits refuses a credit option for a type that has none. It returns
// the option that an instance of the launch gets: T2 is standard unless the
// launch says otherwise, and all later ones are unlimited, at a price.
func launchCredits(x *wire.Exchange) (option string, refused *wire.Reply) {
	kind, asked := x.Form.Get("InstanceType"), x.Form.Get("CreditSpecification.CpuCredits")
	switch {
	case !burstable.MatchString(kind) && asked != "":
		return "", x.Fail(http.StatusBadRequest, "InvalidParameterCombination",
			"The parameter CreditSpecification is not supported for the instance type "+kind)
	case asked != "":
		return asked, nil
	case strings.HasPrefix(kind, "t2."):
		return "standard", nil
	}
	return "unlimited", nil
}

func (s *Service) noteCredits(x *wire.Exchange, id, option string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.credits[tokenID(x, id)] = option
}

// creditsOf returns the credit option of an instance, "" if its type has none; missing if the instance does not
// exist.
func (s *Service) creditsOf(ctx context.Context, x *wire.Exchange, id string) (option string, missing bool, err error) {
	now, err := s.describe(ctx, x, id)
	if err != nil {
		return "", false, err
	}
	m := instanceType.FindSubmatch(now)
	if m == nil {
		return "", true, nil
	}
	if !burstable.Match(m[1]) {
		return "", false, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if option = s.credits[tokenID(x, id)]; option == "" {
		option = "standard"
	}
	return option, false, nil
}

var instanceType = regexp.MustCompile(`<instanceType>([^<]+)</instanceType>`)

// describeCredits answers for the instances that the request names: moto knows one option only. An instance whose
// type has no credits fails the call.
func (s *Service) describeCredits(ctx context.Context, x *wire.Exchange) (*wire.Reply, error) {
	var items strings.Builder
	for _, id := range wire.FormList(x.Form, "InstanceId.") {
		option, missing, err := s.creditsOf(ctx, x, id)
		switch {
		case err != nil:
			return nil, err
		case missing:
			return x.Fail(http.StatusBadRequest, "InvalidInstanceID.NotFound", "The instance ID '"+id+
				"' does not exist"), nil
		case option == "":
			return x.Fail(http.StatusBadRequest, "InvalidParameterValue", "The instance '"+id+
				"' is not a burstable performance instance"), nil
		}
		fmt.Fprintf(&items, "<item><instanceId>%s</instanceId><cpuCredits>%s</cpuCredits></item>", wire.EscapeXML(id),
			wire.EscapeXML(option))
	}
	return creditReply(x, "<instanceCreditSpecificationSet>"+items.String()+"</instanceCreditSpecificationSet>"), nil
}

// modifyCredits changes the option, which moto does not offer. Like AWS, it returns 200 and lists the failures.
func (s *Service) modifyCredits(ctx context.Context, x *wire.Exchange) (*wire.Reply, error) {
	var done, failed strings.Builder
	for n := 1; x.Form.Has(creditPrefix(n) + "InstanceId"); n++ {
		id := x.Form.Get(creditPrefix(n) + "InstanceId")
		option, missing, err := s.creditsOf(ctx, x, id)
		if err != nil {
			return nil, err
		}
		code := ""
		switch {
		case missing:
			code = "InvalidInstanceID.NotFound"
		case option == "":
			code = "InstanceCreditSpecification.NotSupported"
		}
		if code != "" {
			fmt.Fprintf(&failed, "<item><instanceId>%s</instanceId><error><code>%s</code><message>not "+
				"changed</message></error></item>", wire.EscapeXML(id), code)
			continue
		}
		s.noteCredits(x, id, x.Form.Get(creditPrefix(n)+"CpuCredits"))
		fmt.Fprintf(&done, "<item><instanceId>%s</instanceId></item>", wire.EscapeXML(id))
	}
	return creditReply(x, "<successfulInstanceCreditSpecificationSet>"+done.String()+
			"</successfulInstanceCreditSpecificationSet>"+
			"<unsuccessfulInstanceCreditSpecificationSet>"+failed.String()+
			"</unsuccessfulInstanceCreditSpecificationSet>"),
		nil
}

func creditPrefix(n int) string { return "InstanceCreditSpecification." + strconv.Itoa(n) + "." }

func creditReply(x *wire.Exchange, body string) *wire.Reply {
	op := x.Call.Operation
	return &wire.Reply{
		Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/xml"}},
		Body: []byte(`<` + op + `Response xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><requestId/>` + body + `</` +
			op + `Response>`),
	}
}
