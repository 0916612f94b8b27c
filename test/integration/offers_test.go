//go:build integration

package integration

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/rds"

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/awsproxy/iampolicy"
	"github.com/portico-platform/portico/test/stack"
)

// offerDesk asks an operator for the values that an account offers for fields of one team's requests.
type offerDesk struct {
	*inspected
	t            *testing.T
	token        string
	ns, provider string
}

// ask returns the answer once it is no longer pending.
func (d offerDesk) ask(kind, field string, with ...string) operatorapi.Offers {
	d.t.Helper()
	q := operatorapi.OfferQuery{
		Kind: kind, Namespace: d.ns, Provider: d.provider, Field: field,
		With: map[string]string{},
	}
	for pair := range slices.Chunk(with, 2) {
		q.With[pair[0]] = pair[1]
	}
	var got operatorapi.Offers
	await(d.t, "the list for "+field, func() (bool, string) {
		got = operatorapi.Offers{}
		status, body := d.get(d.t, q.Path(), d.token)
		if err := json.Unmarshal([]byte(body), &got); err != nil || status != 200 {
			d.t.Fatalf("%s: %d, %v: %s", q.Path(), status, err, body)
		}
		return !got.Pending, body
	})
	return got
}

// values returns the offered values of a field; an error fails the test.
func (d offerDesk) values(kind, field string, with ...string) []string {
	d.t.Helper()
	got := d.ask(kind, field, with...)
	if got.Error != "" {
		d.t.Errorf("%s: %s", field, got.Error)
	}
	var all []string
	for _, o := range got.Items {
		all = append(all, o.Value)
	}
	return all
}

func (d offerDesk) has(kind, field string, want, never []string, with ...string) {
	d.t.Helper()
	got := d.values(kind, field, with...)
	for _, value := range want {
		if !slices.Contains(got, value) {
			d.t.Errorf("%s offers %.300s, and lacks %s", field, fmt.Sprint(got), value)
		}
	}
	for _, value := range never {
		if slices.Contains(got, value) {
			d.t.Errorf("%s offers %s", field, value)
		}
	}
}

// Values for fields of requests are listed with the permissions of docs/iam, without those that the team cannot use.
func TestAnAccountsOffersAreListed(t *testing.T) {
	o := startInspected(t)
	ns := team(t, o)
	p := account(t, o, "230000000078")
	s := sharedAccountOf(t, p)
	ours, theirs := s.group("ours"), s.group("theirs")
	s.tag(ours, ns)
	s.tag(theirs, "search")
	image, _ := s.disk()
	for _, name := range []string{"nobodys", "ours", "of-search"} {
		made, err := s.ec2.CreateKeyPair(t.Context(), &ec2.CreateKeyPairInput{KeyName: aws.String(name)})
		s.must(err)
		if name == "of-search" {
			s.tag(*made.KeyPairId, "search")
		}
		if name == "ours" {
			s.tag(*made.KeyPairId, ns)
		}
	}
	vpcs, err := s.ec2.DescribeVpcs(t.Context(), &ec2.DescribeVpcsInput{})
	s.must(err)
	subnet, err := s.ec2.CreateSubnet(
		t.Context(), &ec2.CreateSubnetInput{VpcId: vpcs.Vpcs[0].VpcId, CidrBlock: aws.String("172.31.209.0/24")})
	s.must(err)
	s.tag(*subnet.Subnet.SubnetId, ns)
	db := rds.NewFromConfig(outsideConfig(t, p.Name))
	for _, name := range []string{"our-subnets", "their-subnets"} {
		_, err := db.CreateDBSubnetGroup(t.Context(), &rds.CreateDBSubnetGroupInput{
			DBSubnetGroupName: &name, DBSubnetGroupDescription: &name, SubnetIds: []string{*subnet.Subnet.SubnetId},
		})
		s.must(err)
	}

	for _, name := range []string{"tuned", "theirs"} {
		_, err := db.CreateDBParameterGroup(t.Context(), &rds.CreateDBParameterGroupInput{
			DBParameterGroupName: &name, DBParameterGroupFamily: aws.String("postgres16"), Description: &name,
		})
		s.must(err)
	}

	d := offerDesk{o, t, accountToken(t, stack.Namespace, "portico-portal", operatorapi.Audience), ns, p.Name}
	const vm, database = v1alpha1.KindEC2Instance, v1alpha1.KindRDSInstance
	d.has(vm, "securityGroupIDs", []string{ours}, []string{theirs})
	d.has(vm, "subnetID", []string{*subnet.Subnet.SubnetId}, nil)
	if got := d.values(vm, "subnetID"); len(got) != 1 {
		t.Errorf("subnets that nobody gave to the team are offered: %v", got)
	}
	d.has(vm, "imageID", nil, []string{image})
	d.has(vm, "keyName", []string{"ours"}, []string{"nobodys", "of-search"})
	d.has(vm, "instanceType", []string{"t3.micro", "m5.large"}, nil)
	if got := d.values(vm, "imageSSMParameter"); len(got) == 0 ||
		!strings.HasPrefix(got[0], "/aws/service/ami-amazon-linux-latest/") {
		t.Errorf("parameters of images: %v", got)
	}
	d.has(database, "engineVersion", []string{"16", "16.8"}, []string{"8.0.41"}, "engine", "postgres")
	if got := d.values(database, "engineVersion"); len(got) > 0 {
		t.Errorf("versions of no engine: %v", got)
	}
	d.has(database, "dbInstanceClass", []string{"db.t3.micro", "db.r7g.16xlarge"}, nil, "engine", "postgres",
		"engineVersion", "16")
	d.has(database, "dbInstanceClass", []string{"db.t4g.small"}, []string{"db.r7g.large"}, "engine", "mariadb")
	// neither is tagged for the team
	d.has(database, "dbSubnetGroupName", nil, []string{"our-subnets", "their-subnets"})
	d.has(database, "vpcSecurityGroupIDs", []string{ours}, []string{theirs})
	d.has(database, "dbParameterGroupName", nil, []string{"tuned", "theirs"}, "engine", "postgres")

	// Changed rules of the account narrow the lists.
	edit(t, o, p, func(p *v1alpha1.AWSProvider) {
		p.Spec.Guardrails = &v1alpha1.Guardrails{
			AllowedInstanceTypes: []string{"t3.*"}, AllowedDatabaseClasses: []string{"db.t4g.*"}, AllowedImageOwners: []string{"self"},
			AllowedEngines: []v1alpha1.AllowedEngine{{Engine: "postgres", Versions: []string{"16.*"}}},
		}
		p.Spec.AllowedSecurityGroups, p.Spec.AllowedSubnetGroups = []string{theirs}, []string{"Our-Subnets"}
		p.Spec.AllowedKeyPairs, p.Spec.AllowedParameterGroups = []string{"nobodys"}, []string{"Tuned"}
	})
	ready(t, o, p)
	d.eventually("instanceType", func() bool { return !slices.Contains(d.values(vm, "instanceType"), "m5.large") })
	d.has(vm, "instanceType", []string{"t3.micro"}, []string{"m5.large"})
	d.eventually("imageSSMParameter", func() bool { return len(d.values(vm, "imageSSMParameter")) == 0 })
	d.eventually("securityGroupIDs", func() bool { return slices.Contains(d.values(vm, "securityGroupIDs"), theirs) })
	d.eventually("dbSubnetGroupName", func() bool {
		return slices.Contains(d.values(database, "dbSubnetGroupName"), "our-subnets")
	})
	d.has(database, "dbSubnetGroupName", []string{"our-subnets"}, []string{"their-subnets"})
	d.eventually("dbParameterGroupName", func() bool {
		return slices.Contains(d.values(database, "dbParameterGroupName", "engine", "postgres"), "tuned")
	})
	d.has(database, "dbParameterGroupName", nil, []string{"theirs"}, "engine", "postgres")
	d.eventually("keyName", func() bool { return slices.Contains(d.values(vm, "keyName"), "nobodys") })
	d.has(vm, "keyName", []string{"ours"}, []string{"of-search"})
	d.eventually("dbInstanceClass", func() bool {
		return !slices.Contains(d.values(database, "dbInstanceClass", "engine", "postgres", "engineVersion", "16"),
			"db.t3.micro")
	})
	d.eventually("engineVersion", func() bool {
		return !slices.Contains(d.values(database, "engineVersion", "engine", "postgres"), "17.4")
	})
}

// eventually waits until answers that are cached for some seconds have expired.
func (d offerDesk) eventually(field string, done func() bool) {
	d.t.Helper()
	await(d.t, "the narrower list for "+field, func() (bool, string) { return done(), "as before" })
}

// A namespace that cannot use the account, and an account without the permission to list, get a reason instead of a
// list.
func TestWhyThereIsNoListIsSaid(t *testing.T) {
	o := startInspected(t)
	ns := team(t, o)
	p := account(t, o, "230000000079")
	d := offerDesk{o, t, accountToken(t, stack.Namespace, "portico-portal", operatorapi.Audience), ns, p.Name}
	t.Cleanup(world.Proxy.AttachPolicies(stack.RoleARN("230000000079"), iampolicy.Policies{}))
	if got := d.ask(v1alpha1.KindEC2Instance, "subnetID"); len(got.Items) > 0 ||
		!strings.Contains(got.Error, "ec2:DescribeSubnets") {
		t.Errorf("without the permission: %+v", got)
	}
	d.provider = "nowhere"
	if got := d.ask(v1alpha1.KindEC2Instance, "subnetID"); len(got.Items) > 0 ||
		!strings.Contains(got.Error, "nowhere") {
		t.Errorf("of an account that there is not: %+v", got)
	}
	path := operatorapi.OfferQuery{
		Kind: v1alpha1.KindEC2Instance, Namespace: ns, Provider: p.Name,
		Field: "userData",
	}.Path()
	if status, _ := d.get(t, path, d.token); status != 404 {
		t.Errorf("a field without a list answers %d", status)
	}
	if status, _ := d.get(t, path+"?x="+url.QueryEscape(strings.Repeat("x", 4096)), d.token); status != 400 {
		t.Errorf("a query that is too long answers %d", status)
	}
}

// Hosted zones are listed with their domains, for requests of hostnames.
func TestHostedZonesAreListed(t *testing.T) {
	o := startInspected(t)
	domain := domainOf(t, o)
	inside := domain.zoneOf(stack.Zone{Domain: "inside." + domain.name, Private: true})
	d := offerDesk{
		o, t, accountToken(t, stack.Namespace, "portico-portal", operatorapi.Audience), domain.ns,
		stack.Provider,
	}
	got := d.ask(v1alpha1.KindGatewayHostnameRequest, "zoneId")
	facts := map[string]map[string]string{}
	for _, z := range got.Items {
		facts[z.Value] = z.Facts
	}
	if facts[domain.zone]["domain"] != domain.name || facts[domain.zone]["private"] != "" ||
		facts[inside]["private"] != "true" {
		t.Errorf("%+v", got)
	}
	d.has(v1alpha1.KindGatewayHostnameRequest, "validationZoneId", []string{domain.zone}, []string{inside})
}
