package main

import (
	"errors"
	"flag"
	"fmt"
	"strings"
)

// peopleFlags declares flags about users whose tokens the portal passes on. They are the operator's own, so that a
// compromised portal cannot change which tokens it accepts.
func (f *flags) peopleFlags(set *flag.FlagSet) {
	p := &f.controllers.People
	set.StringVar(&f.controllers.DeployAudience, "deploy-audience", "", "the portal's `URL`, as its --public-url: the "+
		"audience of tokens that CI systems give their jobs, and that are exchanged for those of deployers. Empty: "+
		"none are")
	set.StringVar(&p.Issuer, "oidc-issuer-url", "", "`URL` of the OpenID Connect provider, as the portal has it: its "+
		"tokens let people set values of Secrets and see a password, by their own rights in Kubernetes. Empty: "+
		"nobody may")
	set.Func("oidc-audience", "`audience` that such a token must have, as --api-audience of the portal; more of them "+
		"after commas, or by giving the flag again", func(list string) error {
		for one := range strings.SplitSeq(list, ",") {
			if one = strings.TrimSpace(one); one == "" {
				return errors.New("it must not be empty")
			}
			p.Audiences = append(p.Audiences, one)
		}
		return nil
	})
	set.StringVar(&p.SignIn, "oidc-client-id", "", "the portal's client `ID` at the provider: tokens of sign-ins in "+
		"a browser are taken for five minutes. Empty: browsers are not served")
	set.StringVar(&p.Claims.Username, "oidc-username-claim", "sub", "`claim` that holds the username, as the "+
		"portal has it")
	set.StringVar(&p.Claims.Groups, "oidc-groups-claim", "groups",
		"`claim` that holds the groups, as the portal has it")
	set.BoolVar(&p.Claims.GroupsOptional, "oidc-groups-optional", false, "take who has no groups claim for one who "+
		"is in no group, as the portal does")
	set.StringVar(&p.Claims.Prefix, "oidc-prefix", "oidc:", "`prefix` of usernames and groups in Kubernetes, as the "+
		"portal has it")
}

// checkPeople refuses settings that would accept no token, or any token.
func (f *flags) checkPeople() error {
	p := f.controllers.People
	switch {
	case p.Issuer == "" && (len(p.Audiences) > 0 || p.SignIn != ""):
		return errors.New("--oidc-audience and --oidc-client-id need --oidc-issuer-url: whose tokens they are")
	case p.Issuer == "":
		return nil
	case f.controllers.OperatorAPI.Disabled():
		return errors.New("--oidc-issuer-url needs --inspect-bind-address: the portal hands on there what people " +
			"ask for")
	}
	if err := p.Check(); err != nil {
		return fmt.Errorf("--oidc-issuer-url, --oidc-audience, --oidc-client-id and the claims: %w", err)
	}
	return nil
}
