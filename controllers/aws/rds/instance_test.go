package rds

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/rds"
	rdstypes "github.com/aws/aws-sdk-go-v2/service/rds/types"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/aws/reference"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/cloud/cloudtest"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
	"github.com/portico-platform/portico/controllers/external/externaltest"
)

const account, region = "111122223333", "eu-west-1"

// adapterOf returns the adapter of one pass; f and v outlive it.
func adapterOf(f *fakeRDS, v *fakeVault, others ...client.Object) *instance {
	return &instance{
		svc: newService(f, 0), vault: v, kube: external.Kube{Reader: secrets(others)}, now: time.Now,
		session: &cloud.Session{
			Config: aws.Config{Region: region}, AccountID: account, Partition: "aws",
			Identity: cloud.Identity{Cluster: "cluster", Kind: kind, NamespaceUID: "ns-uid"},
		},
	}
}

// secrets are objects that Get returns; the fake client is created on demand, because few tests need it.
type secrets []client.Object

func (s secrets) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		return err
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(s...).Build().Get(ctx, key, obj, opts...)
}

func (secrets) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return errors.New("nothing is listed")
}

func object(change ...func(*v1alpha1.RDSInstance)) *v1alpha1.RDSInstance {
	i := &v1alpha1.RDSInstance{
		ObjectMeta: metav1.ObjectMeta{Namespace: "payments", Name: "ledger", UID: "0f0e0d0c-1111", Generation: 1},
		Spec: v1alpha1.RDSInstanceSpec{
			AWSSpec: v1alpha1.AWSSpec{ProviderRef: v1alpha1.LocalRef{Name: "aws"}},
			Engine:  "postgres", DBInstanceClass: "db.t4g.micro", AllocatedStorage: 20, MasterUsername: "owner",
		},
	}
	for _, c := range change {
		c(i)
	}
	return i
}

// full declares everything that can be declared together.
func full(i *v1alpha1.RDSInstance) {
	s := &i.Spec
	s.DBInstanceIdentifier, s.EngineVersion, s.AllowMajorVersionUpgrade, s.AutoMinorVersionUpgrade = "Ledger-1", "16",
		true, aws.Bool(false)
	s.EngineLifecycleSupport, s.LicenseModel = "open-source-rds-extended-support", "bring-your-own-license"
	s.MaxAllocatedStorage, s.StorageType, s.IOPS, s.StorageThroughput = aws.Int32(100), "gp3", aws.Int32(4000),
		aws.Int32(250)
	s.DBName, s.Port, s.MultiAZ, s.PubliclyAccessible = "ledger", aws.Int32(6432), aws.Bool(true), aws.Bool(false)
	s.DBParameterGroupName, s.VPCSecurityGroupIDs = "Ours", []string{"sg-2", "sg-1"}
	s.BackupRetentionPeriod, s.PreferredBackupWindow, s.PreferredMaintenanceWindow = aws.Int32(7), "02:00-02:30",
		"Sun:03:00-Sun:03:30"
	s.PerformanceInsightsEnabled, s.EnabledCloudwatchLogsExports = aws.Bool(true), []string{"postgresql"}
	s.Tags = v1alpha1.Tags{"team": "payments"}
}

func TestInstanceKeepsTheLaws(t *testing.T) {
	f := &fakeRDS{}
	a, obj := adapterOf(f, &fakeVault{}), object(full)
	obj.Spec.DeletionProtection = aws.Bool(false)
	drift := map[string]func(){
		"a tag":         func() { f.tags["team"], f.tags["made-by"] = "search", "hand" },
		"the owner tag": func() { f.tags["portico.dev/uid"] = "older" },
		versionPath:     func() { f.drift(versionPath) },
	}
	for _, s := range settings {
		drift[s.Path] = func() { f.drift(s.Path) }
	}
	externaltest.Laws(t, externaltest.Case[*v1alpha1.RDSInstance, instanceState]{
		Adapter: a, Object: obj,
		Writes: func() int { return f.writes },
		Fail:   func(err error) { f.fail = err },
		Errors: []error{code("AccessDenied"), code("Throttling"), code("InternalFailure"), code("ExpiredToken"), code("InvalidParameterValue")},
		Lose:   func(on bool) { f.lose = on },
		Strip: func() {
			maps.DeleteFunc(f.tags, func(key, _ string) bool { return strings.HasPrefix(key, "portico.dev/") })
		},
		Foreign: func() bool { return f.tags["made-by"] == "hand" },
		Drift:   drift, Together: [][]string{
			{versionPath, parameterGroupPath}, {"preferredBackupWindow", "preferredMaintenanceWindow"}, {"allocatedStorage", "storageType", "iops", "storageThroughput"},
		},
	})
	if f.deleted == nil || *f.deleted.FinalDBSnapshotIdentifier != "ledger-1-final-0f0e0d0c" {
		t.Errorf("deleted by %+v", f.deleted)
	}
}

func TestEverySettingIsDeclaredBySomething(t *testing.T) {
	obj := object(full)
	obj.Spec.DeletionProtection = aws.Bool(true)
	declared := adapterOf(&fakeRDS{}, &fakeVault{}).Declared(obj)
	for _, s := range settings {
		if !slices.Contains(declared, s.Path) {
			t.Errorf("full does not declare %s, so no law is tried on it", s.Path)
		}
	}
}

func TestAMinimalDatabaseIsSafe(t *testing.T) {
	f, v := &fakeRDS{}, &fakeVault{}
	obj := object()
	details := settled(t, f, v, obj)
	if !*f.db.StorageEncrypted || *f.db.PubliclyAccessible || !*f.db.CopyTagsToSnapshot {
		t.Errorf("encrypted %v, public %v", *f.db.StorageEncrypted, *f.db.PubliclyAccessible)
	}
	if want := []string{"DescribeDBInstances", "CreateDBInstance", "DescribeDBInstances"}; !slices.Equal(
		f.calls, want) {
		t.Errorf("calls %v, want %v", f.calls, want)
	}
	if details["password"] != f.password || details["password"] != v.kept["password"] {
		t.Error("the binding, the record and RDS do not hold the same password")
	}
	if v.kept["next"] != "" || len(f.password) != generates {
		t.Errorf("a next password is kept: %v; %d characters, want none, %d", v.kept["next"] != "", len(f.password),
			generates)
	}
	if name := obj.Status.DBInstanceIdentifier; !strings.HasPrefix(name, "payments-ledger-") ||
		obj.Status.Endpoint == "" {
		t.Errorf("status %+v", obj.Status)
	}
}

func TestGeneratedIdentifiersAreWhatRDSTakes(t *testing.T) {
	for _, row := range []struct{ namespace, name string }{
		{"payments", "ledger"}, {"7up", "ledger"}, {"a--b", "c--d"}, {"payments", strings.Repeat("long-", 40)}, {"7up", strings.Repeat("x", 60) + "--y"},
	} {
		obj := object(func(i *v1alpha1.RDSInstance) { i.Namespace, i.Name = row.namespace, row.name })
		name := adapterOf(&fakeRDS{}, &fakeVault{}).identifier(obj)
		if len(name) > longestIdentifier || name[0] < 'a' || name[0] > 'z' {
			t.Errorf("%s/%s: %q, want a letter first, and at most %d", row.namespace, row.name, name, longestIdentifier)
		}
		if strings.Contains(name, "--") || strings.HasSuffix(name, "-") {
			t.Errorf("%s/%s: %q, want single hyphens inside", row.namespace, row.name, name)
		}
	}
}

func TestRemovedFieldsGoBackToTheDefaultOnce(t *testing.T) {
	f, v := &fakeRDS{}, &fakeVault{}
	obj := object(full)
	settled(t, f, v, obj)
	minimal := object()
	minimal.Spec.DBInstanceIdentifier, minimal.Spec.DBName, minimal.Spec.ApplyImmediately = "Ledger-1", "ledger", true
	obj.Spec = minimal.Spec
	settled(t, f, v, obj)
	got := []string{
		external.FormatInt(f.db.Endpoint.Port), formatBool(f.db.MultiAZ), formatBool(f.db.AutoMinorVersionUpgrade),
		formatBool(f.db.PerformanceInsightsEnabled), external.JoinSet(f.db.EnabledCloudwatchLogsExports),
		external.FormatInt(f.db.MaxAllocatedStorage), f.tags["team"],
	}
	if want := []string{"5432", "false", "true", "false", "", "", ""}; !slices.Equal(got, want) {
		t.Errorf("after the removal %q, want AWS's defaults %q", got, want)
	}
	if groups(f.db) != "sg-1, sg-2" || *f.db.PreferredBackupWindow != "02:00-02:30" {
		t.Error("what has no default of AWS's did not stay")
	}
	if days := external.FormatInt(f.db.BackupRetentionPeriod); days != external.FormatInt(
		object(full).Spec.BackupRetentionPeriod) {
		t.Errorf("the removal left recovery points of %s days only", days)
	}
	f.drift("port") // no longer managed
	f.calls = nil
	settled(t, f, v, obj)
	if *f.db.Endpoint.Port != 1 || len(f.calls) != 1 {
		t.Errorf("an unmanaged setting was touched: %v", f.calls)
	}
}

func TestLooksAreRoutineOrLive(t *testing.T) {
	f := &fakeRDS{}
	obj := object()
	settled(t, f, &fakeVault{}, obj)
	a := adapterOf(f, &fakeVault{})
	f.absent, f.calls = true, nil
	if seen := observe(t, a, obj); seen == nil || len(f.calls) != 2 {
		t.Errorf("one that is missing in a batch must be read alone: %v", f.calls)
	}
	f.db = nil
	if seen := observe(t, a, obj); seen != nil {
		t.Error("what RDS says is not there was seen")
	}
}

// paged is RDS with a second instance, on another page.
type paged struct{ *fakeRDS }

func (p paged) DescribeDBInstances(ctx context.Context, in *rds.DescribeDBInstancesInput, opts ...opt) (
	*rds.DescribeDBInstancesOutput, error,
) {
	if in.Marker == nil {
		out, err := p.fakeRDS.DescribeDBInstances(ctx, in, opts...)
		if err == nil {
			out.Marker = aws.String("2")
		}
		return out, err
	}
	second := rdstypes.DBInstance{DBInstanceArn: aws.String("arn:second"), DBInstanceIdentifier: aws.String("second")}
	return &rds.DescribeDBInstancesOutput{DBInstances: []rdstypes.DBInstance{second}}, p.refuse
}

func TestAListingIsCompleteOrForgotten(t *testing.T) {
	f, listing := &fakeRDS{}, &cloud.Listing[instanceState]{}
	obj := object()
	settled(t, f, &fakeVault{}, obj)
	s := newService(paged{f}, 0)
	arns, err := s.list(t.Context(), listing)
	slices.Sort(arns)
	if _, ok := listing.Get(engine.WithRoutine(t.Context(), true), obj.Status.ARN); err != nil || !ok ||
		!slices.Equal(arns, []string{obj.Status.ARN, "arn:second"}) {
		t.Errorf("listed %v, %v", arns, err)
	}
	f.refuse = code("Throttling")
	if arns, err := s.list(t.Context(), listing); err == nil || arns != nil {
		t.Errorf("a listing whose second page failed gave %v, %v", arns, err)
	}
	if _, ok := listing.Get(engine.WithRoutine(t.Context(), true), obj.Status.ARN); ok {
		t.Error("the old listing was kept")
	}
}

// The permissions in the docs are those that the calls need, including what RDS does for the caller.
func TestThePolicyInTheDocsIsThatOfTheCalls(t *testing.T) {
	cloudtest.Policy(t, "../../../docs/iam/rdsinstance.json", "rds", reflect.TypeFor[api](), map[string][]string{
		"CreateDBInstance": {"rds:CreateDBInstance", "rds:AddTagsToResource"},
		"DeleteDBInstance": {"rds:DeleteDBInstance", "rds:CreateDBSnapshot"},
		"": {
			"iam:CreateServiceLinkedRole", "tag:GetResources", "rds:DescribeDBEngineVersions",
			"rds:DescribeOrderableDBInstanceOptions",
			"rds:DescribeDBSubnetGroups", "rds:DescribeDBParameterGroups", "ec2:DescribeSecurityGroups",
			"secretsmanager:CreateSecret", "secretsmanager:TagResource", "secretsmanager:RotateSecret",
			"kms:DescribeKey", "kms:CreateGrant", "kms:Decrypt", "kms:GenerateDataKey",
		},
	})
}

// The action names what it makes a database refer to; existing references are not admitted again.
func TestWhatADatabaseRefersToIsNamed(t *testing.T) {
	f, v := &fakeRDS{}, &fakeVault{}
	obj := object(full, func(i *v1alpha1.RDSInstance) {
		i.Spec.DBSubnetGroupName, i.Spec.KMSKeyID, i.Spec.MasterUserSecretKmsKeyID = "ours", "alias/disk",
			"alias/secret"
	})
	want := []external.Reference{
		{Kind: reference.SecurityGroup, Name: "sg-2"},
		{Kind: reference.SecurityGroup, Name: "sg-1"},
		{Kind: reference.SubnetGroup, Name: "ours"},
		{Kind: reference.ParameterGroup, Name: "Ours"},
		{Kind: reference.KMSKey, Name: "alias/disk"},
		{Kind: reference.KMSKey, Name: "alias/secret"},
	}
	a := adapterOf(f, v)
	if got := a.create(obj).References; !slices.Equal(got, want) {
		t.Errorf("a creation names %v", got)
	}
	obj.Spec.RestoreFrom = &v1alpha1.RDSRestoreFrom{SnapshotIdentifier: "snap"}
	if got := a.create(obj).References; !slices.Equal(got, want) {
		t.Errorf("a restoration names %v", got)
	}
	obj.Spec.RestoreFrom, obj.Spec.DBSubnetGroupName = nil, ""
	settled(t, f, v, obj)
	obj.Spec.VPCSecurityGroupIDs, obj.Spec.ManageMasterUserPassword, obj.Spec.DBParameterGroupName = []string{
		"sg-1", "sg-3",
	}, true, "theirs"
	a = adapterOf(f, v)
	if err := a.Resolve(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	actions, err := a.Plan(obj, observe(t, a, obj))
	var got []external.Reference
	for _, s := range actions {
		got = append(got, s.References...)
	}
	if want := []external.Reference{
		{Kind: reference.SecurityGroup, Name: "sg-3"},
		{Kind: reference.ParameterGroup, Name: "theirs"},
		{Kind: reference.KMSKey, Name: "alias/secret"},
	}; err != nil ||
		!slices.Equal(got, want) {
		t.Errorf("an edit names %v, %v", got, err)
	}
}
