package controllers

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/identity"
	api "github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/external"
	"github.com/portico-platform/portico/controllers/operatorapi"
	"github.com/portico-platform/portico/controllers/people"
)

// peopleQPS is the rate limit for requests made for people; a list reads Secrets one by one.
const peopleQPS = 50

// forPeople returns the handler that acts for people by their own tokens, nil if no token issuer is configured.
func forPeople(mgr ctrl.Manager, o Options) (operatorapi.Routes, error) {
	if o.People.Issuer == "" {
		return nil, nil
	}
	verifier, err := identity.NewVerifier(o.People, o.Engine.Now)
	if err != nil {
		return nil, fmt.Errorf("whose tokens are taken: %w", err)
	}
	cfg := rest.CopyConfig(mgr.GetConfig())
	cfg.QPS, cfg.Burst = peopleQPS, 2*peopleQPS
	clients, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("prepare what is done for people: %w", err)
	}
	return people.New(people.Options{
		Verifier: verifier, Reviews: clients.AuthorizationV1().SubjectAccessReviews(),
		Store: &people.Store{
			Secrets: clients.CoreV1(), System: []string{o.Namespace, o.Hostnames.Namespace},
			Now: o.Engine.Now,
		},
		Find: findBound(mgr.GetClient(), mgr.GetEventRecorder("portico")),
		Own:  people.OwnUsers(mgr.GetClient(), o.Engine.Now), Uses: usesOfSecrets(mgr.GetClient()),
		Log: mgr.GetLogger().WithName("people"),
	}), nil
}

// ReasonPasswordShown is the reason of the Event recorded when a person was shown a password.
const ReasonPasswordShown = "PasswordShown"

// findBound returns a function that finds objects of the kinds that publish connection details.
func findBound(cached client.Reader, recorder events.EventRecorder) people.FindBound {
	return func(ctx context.Context, name string, of types.NamespacedName) (
		b people.Bound, found, known bool, err error,
	) {
		obj := boundObject(name)
		if obj == nil {
			return b, false, false, nil
		}
		obj.SetNamespace(of.Namespace)
		obj.SetName(of.Name)
		b.Secret = external.BindingName(name, obj)
		if err := cached.Get(ctx, of, obj); err != nil {
			return b, false, true, client.IgnoreNotFound(err)
		}
		b.UID, b.Binding, b.Elsewhere = obj.GetUID(), bindingOf(obj), passwordElsewhere(obj)
		b.Tell = func(actor, access string) {
			said := "%s was shown the password"
			if name == v1alpha1.KindRDSInstance {
				said = "%s was shown the master password"
			}
			if access != "" {
				said = "%s was shown the password of a user of their own, with access " + access
			}
			recorder.Eventf(obj, nil, corev1.EventTypeNormal, ReasonPasswordShown, actionOf(actor+access), said, actor)
		}
		return b, true, true, nil
	}
}

// boundObject returns a zero object of a kind that publishes connection details; nil for other kinds.
func boundObject(kind string) client.Object {
	if kind == v1alpha1.KindDatabaseUser {
		return &v1alpha1.DatabaseUser{}
	}
	if k, ok := kinds[kind]; ok {
		return k.object.DeepCopyObject().(client.Object)
	}
	return nil
}

// bindingOf returns the connection details of an object of boundObject's kinds.
func bindingOf(obj client.Object) *v1alpha1.Binding {
	if user, ok := obj.(*v1alpha1.DatabaseUser); ok {
		return user.Status.Binding
	}
	_, status := obj.(external.Object).AWS()
	return status.Binding
}

// passwordElsewhere returns where the password is if the connection details do not have it; empty if unknown.
func passwordElsewhere(obj client.Object) string {
	switch o := obj.(type) {
	case *v1alpha1.RDSInstance:
		if o.Status.MasterUserSecretARN != "" {
			return "RDS keeps the password itself, in AWS Secrets Manager: " + o.Status.MasterUserSecretARN
		}
	case *v1alpha1.DatabaseUser:
		if o.Spec.Authentication == v1alpha1.AuthenticationIAM {
			return "it signs in by IAM, with a token that AWS makes, and has no password"
		}
	}
	return ""
}

// actionOf returns the action of such an Event. It differs by person, since events with the same action are combined
// into one with a count.
func actionOf(actor string) string {
	sum := sha256.Sum256([]byte(actor))
	return "Reveal-" + hex.EncodeToString(sum[:4])
}

// Effects of a changed value on those who use the Secret.
const (
	webAppTakes   = "takes a new value when its Pods start: portico restart"
	databaseTakes = "takes a new password at its next check"
	machineTakes  = "has what it took when it was launched"
)

// usesOfSecrets returns a function that lists the objects whose spec names Secrets.
func usesOfSecrets(cached client.Reader) people.Uses {
	return func(ctx context.Context, namespace string) (map[string][]api.SecretUse, error) {
		all := map[string][]api.SecretUse{}
		use := func(secret, kind, name, effect string) {
			all[secret] = append(all[secret], api.SecretUse{Kind: kind, Name: name, Effect: effect})
		}
		for _, look := range []func(
			context.Context, client.Reader, string, func(secret, kind, name, effect string)) error{
			usesOfApps,
			usesOfDatabases, usesOfMachines,
		} {
			if err := look(ctx, cached, namespace, use); err != nil {
				return nil, err
			}
		}
		return all, nil
	}
}

func usesOfApps(ctx context.Context, cached client.Reader, namespace string,
	use func(secret, kind, name, effect string),
) error {
	var apps v1alpha1.WebAppList
	if err := cached.List(ctx, &apps, client.InNamespace(namespace)); err != nil {
		return fmt.Errorf("list web apps: %w", err)
	}
	for i := range apps.Items {
		for name := range secretsOf(&apps.Items[i]) {
			use(name, v1alpha1.KindWebApp, apps.Items[i].Name, webAppTakes)
		}
	}
	return nil
}

func usesOfDatabases(ctx context.Context, cached client.Reader, namespace string,
	use func(secret, kind, name, effect string),
) error {
	var databases v1alpha1.RDSInstanceList
	if err := cached.List(ctx, &databases, client.InNamespace(namespace)); err != nil {
		return fmt.Errorf("list databases: %w", err)
	}
	for i := range databases.Items {
		if ref := databases.Items[i].Spec.MasterUserPasswordSecretRef; ref != nil {
			use(ref.Name, v1alpha1.KindRDSInstance, databases.Items[i].Name, databaseTakes)
		}
	}
	return nil
}

func usesOfMachines(ctx context.Context, cached client.Reader, namespace string,
	use func(secret, kind, name, effect string),
) error {
	var machines v1alpha1.EC2InstanceList
	if err := cached.List(ctx, &machines, client.InNamespace(namespace)); err != nil {
		return fmt.Errorf("list machines: %w", err)
	}
	for i := range machines.Items {
		if from := machines.Items[i].Spec.UserDataFrom; from != nil && from.SecretKeyRef != nil {
			use(from.SecretKeyRef.Name, v1alpha1.KindEC2Instance, machines.Items[i].Name, machineTakes)
		}
	}
	return nil
}

// secretsOf returns the names of the Secrets that provide the application's variables.
func secretsOf(app *v1alpha1.WebApp) map[string]bool {
	names := map[string]bool{}
	for _, e := range app.Spec.Env {
		if e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil {
			names[e.ValueFrom.SecretKeyRef.Name] = true
		}
	}
	for _, e := range app.Spec.EnvFrom {
		if e.SecretRef != nil {
			names[e.SecretRef.Name] = true
		}
	}
	return names
}
