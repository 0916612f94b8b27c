package rest

import (
	"context"

	"github.com/portico-platform/portico/portal/availability"
	"github.com/portico-platform/portico/portal/cluster/failure"
)

type hostnameInput struct {
	Namespace   string `path:"namespace" doc:"Namespace of the team."`
	Hostname    string `query:"hostname" required:"true" minLength:"1" doc:"Such as shop.example.com, or *.shop.example.com."`
	Visibility  string `query:"visibility" enum:"internet-facing,internal" default:"internet-facing" doc:"For whom."`
	Environment string `query:"environment" enum:"dev,staging,prod" default:"dev" doc:"What the hostname is for."`
	Zone        string `query:"zone" doc:"ID of the hosted zone; left out, it is not judged."`
}

type hostnameOutput struct {
	Body hostnameAnswer
}

type hostnameAnswer struct {
	State    string          `json:"state" enum:"free,invalid,noGrant,notGranted,taken,overlaps,yours" doc:"free: it can be requested. invalid: it is no hostname. noGrant: the namespace can have none. notGranted: its HostnameGrant does not allow this one. taken: another namespace has it. overlaps: another namespace has one that overlaps. yours: a request of the namespace asks for it already."`
	Hostname string          `json:"hostname,omitempty" doc:"As DNS has it: in lower case and IDNA form. Absent if it is invalid."`
	Message  string          `json:"message" doc:"The state in words."`
	Field    string          `json:"field,omitempty" doc:"The field of the request's spec that is the problem."`
	Holder   *hostnameHolder `json:"holder,omitempty" doc:"The GatewayHostnameRequest that has it. Only for those who can get such requests there."`
}

type hostnameHolder struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

func (a *API) checkHostname(ctx context.Context, in *hostnameInput) (*hostnameOutput, error) {
	if !isNamespace(in.Namespace) {
		return nil, a.fail(ctx, &failure.ForbiddenError{
			Verb: "list", Resource: "gatewayhostnamerequests", Namespace: in.Namespace,
		})
	}
	got, err := a.cluster.Hostnames.Check(ctx, caller(ctx), in.Namespace, availability.Query{
		Hostname: in.Hostname, Zone: in.Zone, Visibility: in.Visibility, Environment: in.Environment,
	})
	if err != nil {
		return nil, a.fail(ctx, err)
	}
	out := hostnameAnswer{State: string(got.State), Hostname: got.Hostname, Message: got.Message, Field: got.Field}
	if got.Holder != (availability.Holder{}) {
		out.Holder = &hostnameHolder{Namespace: got.Holder.Namespace, Name: got.Holder.Name}
	}
	return &hostnameOutput{Body: out}, nil
}
