package controllers

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/portico-platform/portico/api/v1alpha1"
)

func TestWhatUsesASecret(t *testing.T) {
	in := func(ns, name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: ns, Name: name} }
	both := v1alpha1.WebAppSpec{
		Env: []v1alpha1.WebAppEnv{
			{Name: "A", Value: "plain"},
			{Name: "B", ValueFrom: &v1alpha1.WebAppEnvSource{SecretKeyRef: &v1alpha1.SecretKeyRef{Name: "one", Key: "b"}}},
			{Name: "C", ValueFrom: &v1alpha1.WebAppEnvSource{ConfigMapKeyRef: &v1alpha1.ConfigMapKeyRef{Name: "map", Key: "c"}}},
			{Name: "D", ValueFrom: &v1alpha1.WebAppEnvSource{SecretKeyRef: &v1alpha1.SecretKeyRef{Name: "one", Key: "d"}}},
		},
		EnvFrom: []v1alpha1.WebAppEnvFrom{
			{SecretRef: &v1alpha1.LocalRef{Name: "two"}},
			{ConfigMapRef: &v1alpha1.LocalRef{Name: "map"}},
		},
	}
	c := fake.NewClientBuilder().WithScheme(Scheme()).WithObjects(
		&v1alpha1.WebApp{ObjectMeta: in("payments", "shop"), Spec: both},
		&v1alpha1.WebApp{ObjectMeta: in("search", "other"), Spec: both},
		&v1alpha1.RDSInstance{ObjectMeta: in("payments", "db"), Spec: v1alpha1.RDSInstanceSpec{
			MasterUserPasswordSecretRef: &v1alpha1.SecretKeyRef{Name: "one", Key: "p"},
		}},
		&v1alpha1.RDSInstance{ObjectMeta: in("payments", "generated")},
		&v1alpha1.EC2Instance{ObjectMeta: in("payments", "vm"), Spec: v1alpha1.EC2InstanceSpec{
			UserDataFrom: &v1alpha1.EC2UserDataSource{SecretKeyRef: &v1alpha1.SecretKeyRef{Name: "two", Key: "p"}},
		}},
	).Build()
	got, err := usesOfSecrets(c)(t.Context(), "payments")
	if err != nil {
		t.Fatal(err)
	}
	want := "map[one:[{WebApp shop " + webAppTakes + "} {RDSInstance db " + databaseTakes + "}] two:[{WebApp shop " +
		webAppTakes + "} {EC2Instance vm " + machineTakes + "}]]"
	if fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
}

func TestWhatHasAPassword(t *testing.T) {
	db := &v1alpha1.RDSInstance{ObjectMeta: metav1.ObjectMeta{Namespace: "payments", Name: "db", UID: "u"}}
	db.Status.Binding, db.Status.MasterUserSecretARN = &v1alpha1.Binding{Name: "db-rdsinstance-binding"}, "arn:aws:x"
	user := &v1alpha1.DatabaseUser{
		ObjectMeta: metav1.ObjectMeta{Namespace: "payments", Name: "shop", UID: "v"},
		Spec:       v1alpha1.DatabaseUserSpec{Authentication: v1alpha1.AuthenticationIAM},
	}
	user.Status.Binding = &v1alpha1.Binding{Name: "shop-databaseuser-binding"}
	c := fake.NewClientBuilder().WithScheme(Scheme()).WithObjects(db, user).WithStatusSubresource(db, user).Build()
	told := events.NewFakeRecorder(2)
	find := findBound(c, told)
	b, found, known, err := find(t.Context(), v1alpha1.KindRDSInstance, types.NamespacedName{
		Namespace: "payments", Name: "db",
	})
	if err != nil || !found || !known {
		t.Fatalf("found = %v, known = %v, %v; want both", found, known, err)
	}
	if b.Secret != "db-rdsinstance-binding" || b.UID != "u" || b.Binding == nil {
		t.Errorf("Secret = %q, UID = %q, Binding = %v; want db-rdsinstance-binding, u, one", b.Secret, b.UID, b.Binding)
	}
	if want := "RDS keeps the password itself, in AWS Secrets Manager: arn:aws:x"; b.Elsewhere != want {
		t.Errorf("Elsewhere = %q, want %q", b.Elsewhere, want)
	}
	b.Tell("oidc:jane", "")
	if got := <-told.Events; got != "Normal PasswordShown oidc:jane was shown the master password" {
		t.Errorf("told %q", got)
	}
	if actionOf("oidc:jane") == actionOf("oidc:jo") {
		t.Error("two people are told as one")
	}
	b, found, known, err = find(t.Context(), v1alpha1.KindRDSInstance, types.NamespacedName{
		Namespace: "payments", Name: "none",
	})
	if err != nil || found || !known {
		t.Errorf("of what is not there: found = %v, known = %v, %v; want only known", found, known, err)
	}
	if b.Secret != "none-rdsinstance-binding" {
		t.Errorf("of what is not there: Secret = %q, want none-rdsinstance-binding", b.Secret)
	}
	b, found, _, err = find(t.Context(), v1alpha1.KindDatabaseUser, types.NamespacedName{
		Namespace: "payments", Name: "shop",
	})
	if err != nil || !found || !strings.Contains(b.Elsewhere, "IAM") {
		t.Errorf("of a database's user: found = %v, Elsewhere = %q, %v; want IAM", found, b.Elsewhere, err)
	}
	if b.Secret != "shop-databaseuser-binding" || b.UID != "v" || b.Binding == nil {
		t.Errorf("of a database's user: Secret = %q, UID = %q, Binding = %v; want shop-databaseuser-binding, v, one",
			b.Secret, b.UID, b.Binding)
	}
	if _, _, known, _ := find(t.Context(), v1alpha1.KindWebApp, types.NamespacedName{}); known {
		t.Error("a web app has connection details")
	}
}
