package rds

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"math/big"
	"strings"
	"unicode"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

const (
	kind    = "RDSInstance"
	purpose = "master"
)

// vault keeps an object's own secret; external.Secrets is one.
type vault interface {
	Keep(ctx context.Context, kind string, obj client.Object, purpose string, values map[string]string) error
	Kept(ctx context.Context, kind string, obj client.Object, purpose string) (map[string]string, error)
}

// record is what Portico remembers of the master password. next is written down before RDS is told of it, and becomes
// password afterwards: whatever happens in between, the password of a database is one of the two.
type record struct {
	password string // in force
	next     string // decided on, perhaps in force; empty: nothing under way
	rotation string // the value of the annotation that next, or else password, answers
}

// String keeps the record out of every text.
func (record) String() string { return "(secret)" }

// GoString does the same for %#v.
func (record) GoString() string { return "(secret)" }

// credentials are what one pass knows of the password.
type credentials struct {
	record
	given string // by the user's Secret
}

// Resolve reads the password that the spec refers to, and the record.
func (i *instance) Resolve(ctx context.Context, obj *v1alpha1.RDSInstance) error {
	i.creds = credentials{}
	if obj.Spec.ManageMasterUserPassword {
		return nil
	}
	values, err := i.vault.Kept(ctx, kind, obj, purpose)
	if err != nil {
		return err
	}
	i.creds.record = record{values["password"], values["next"], values["rotation"]}
	ref := obj.Spec.MasterUserPasswordSecretRef
	if ref == nil {
		return nil
	}
	given, err := i.kube.SecretValue(ctx, obj.Namespace, *ref)
	if err != nil {
		return err
	}
	if problem := unfit(obj.Spec.Engine, given); problem != "" {
		return engine.Blocked("InvalidPassword", "the password in the Secret %s cannot be used: %s; correct it, and nothing else will change. Nothing was sent to AWS", ref.Name, problem)
	}
	i.creds.given = given
	return nil
}

func (i *instance) keep(ctx context.Context, obj *v1alpha1.RDSInstance, r record) error {
	err := i.vault.Keep(ctx, kind, obj, purpose, map[string]string{"password": r.password, "next": r.next, "rotation": r.rotation})
	if err == nil {
		i.creds.record = r
	}
	return err
}

// decide returns the password to send to RDS, written down. fresh asks for another one than that in force.
func (i *instance) decide(ctx context.Context, obj *v1alpha1.RDSInstance, fresh bool) (string, error) {
	r, asked := i.creds.record, rotationOf(obj)
	switch {
	case i.creds.given != "":
		r.next = i.creds.given
	case r.next != "" && (asked == "" || asked == r.rotation):
	case !fresh && r.password != "":
		r.next = r.password
	default:
		password, err := generated()
		if err != nil {
			return "", err
		}
		r.next = password
	}
	r.rotation = cmp.Or(asked, r.rotation)
	password := r.next
	if r.next == r.password {
		r.next = "" // written down already
	}
	if r == i.creds.record {
		return password, nil
	}
	return password, i.keep(ctx, obj, r)
}

// promote notes that RDS has taken the password decided on.
func (i *instance) promote(ctx context.Context, obj *v1alpha1.RDSInstance) error {
	if r := i.creds.record; r.next != "" {
		r.password, r.next = r.next, ""
		if err := i.keep(ctx, obj, r); err != nil {
			return err
		}
	}
	obj.Status.PasswordRotation = rotationOf(obj)
	return nil
}

// rotationOf is what the owner last asked for.
func rotationOf(obj *v1alpha1.RDSInstance) string {
	return obj.Annotations[v1alpha1.AnnotationRotatePassword]
}

// rotationAsked tells whether the owner asks for a rotation that was not done yet.
func (i *instance) rotationAsked(obj *v1alpha1.RDSInstance) bool {
	asked := rotationOf(obj)
	return asked != "" && asked != obj.Status.PasswordRotation && asked != i.creds.rotation
}

// The lengths are those of the API reference of CreateDBInstance. What Portico generates fits the shortest of them.
const (
	shortest  = 8
	generates = 30
)

func longest(engineName string) int {
	switch family(engineName) {
	case "oracle":
		return 30
	case "mysql", "mariadb":
		return 41
	default:
		return 128
	}
}

// unfit says what is wrong with a password, without showing it.
func unfit(engineName, password string) string {
	bad := `/"@ `
	if family(engineName) == "oracle" {
		bad += "&'"
	}
	switch {
	case strings.HasSuffix(password, "\n"):
		return "it ends with a line break"
	case strings.ContainsAny(password, bad):
		return "it contains one of the characters that RDS does not take: " + strings.Join(strings.Split(bad, ""), " ") + "(space)"
	case strings.ContainsFunc(password, func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsPrint(r) }):
		return "it contains something other than printable ASCII characters"
	case len(password) < shortest || len(password) > longest(engineName):
		return fmt.Sprintf("it must have %d to %d characters", shortest, longest(engineName))
	}
	return ""
}

// The characters of generated passwords: of four classes, as SQL Server asks for, and none that an engine, a URL or a
// shell would take for something else.
const (
	letters = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ"
	numbers = "23456789"
	marks   = "-_"
)

// generated is a new password: about 170 bits.
func generated() (string, error) {
	for {
		password, err := draw(letters, 1) // some tools take a leading digit or mark for something else
		if err != nil {
			return "", err
		}
		rest, err := draw(letters+numbers+marks, generates-1)
		if err != nil {
			return "", err
		}
		password += rest
		if strings.ContainsAny(password, numbers) && strings.ContainsAny(password, marks) &&
			strings.ToLower(password) != password && strings.ToUpper(password) != password {
			return password, nil
		}
	}
}

func draw(alphabet string, count int) (string, error) {
	out := make([]byte, count)
	for at := range out {
		n, err := rand.Int(rand.Reader, big.NewInt(int64(len(alphabet))))
		if err != nil {
			return "", fmt.Errorf("generate a password: %w", err)
		}
		out[at] = alphabet[n.Int64()]
	}
	return string(out), nil
}
