package sessions

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/cluster/kubetest"
	"github.com/portico-platform/portico/portal/cluster/rights"
)

// lists returns empty lists of revoked sessions.
func lists() *fake.Clientset {
	var all []runtime.Object
	for list := range revocationLists {
		all = append(all, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: "portico-system", Name: RevocationSecret(list)},
		})
	}
	return fake.NewClientset(all...)
}

// ending returns a cluster whose user Dev can end sessions, and the client that it writes to. In its bindings ops is a
// group, and both is a group and a user.
func ending(t *testing.T, allow ...string) (*Sessions, *fake.Clientset, *clocktesting.FakePassiveClock) {
	t.Helper()
	secrets, now := lists(), clocktesting.NewFakePassiveClock(noon.Add(900*time.Millisecond))
	revoked, err := NewRevocations(secrets.CoreV1().Secrets("portico-system"), now)
	if err != nil {
		t.Fatal(err)
	}
	c, _ := asking(t, revoked, allow...)
	return c, secrets, now
}

// asking returns Sessions for callers who can do what allow lists.
func asking(t *testing.T, revoked *Revocations, allow ...string) (*Sessions, *kubetest.Judge) {
	t.Helper()
	group := func(name string) rbacv1.Subject { return rbacv1.Subject{Kind: "Group", Name: name} }
	from := kubetest.NewFeed(t, &kubetest.Spaces{
		Names: []string{"payments", "search"},
		Bound: map[string]rbacv1.Subject{"payments": group("oidc:team"), "search": {Kind: "User", Name: "oidc:both"}},
		Wide: []rbacv1.ClusterRoleBinding{
			{RoleRef: rbacv1.RoleRef{Name: "portico-admin"}, Subjects: []rbacv1.Subject{
				group("oidc:ops"), group("oidc:both"),
			}},
		},
	})
	j := kubetest.NewJudge()
	j.Allow = kubetest.Only(allow...)
	may := rights.New(rights.Options{Reviews: j.Reviews(), Feed: from, AskEverywhere: true, Clock: j.Clock})
	return New(may, revoked, "oidc:"), j
}

const mayEnd = "delete sessions"

func TestSessionsOfAUserAreEndedByWhoMay(t *testing.T) {
	for reason, step := range map[string]struct {
		allow  []string
		user   string
		dryRun bool
		breaks error // of the API server
		want   string
		logged string
	}{
		"it is done":               {[]string{mayEnd}, "jo", false, nil, "", "delete sessions  oidc:jo allow done"},
		"a dry run":                {[]string{mayEnd}, "oidc:jo", true, nil, "", "delete sessions  oidc:jo allow done dry"},
		"no right":                 {nil, "jo", false, nil, "you are not allowed to delete sessions", "delete sessions  jo deny forbidden"},
		"a right to other things":  {[]string{"delete s3buckets", "list domainclaims"}, "jo", true, nil, "you are not allowed to delete sessions", "delete sessions  jo deny forbidden dry"},
		"nobody":                   {[]string{mayEnd}, " ", false, nil, "name a user", "delete sessions    allow refused"},
		"nobody, and no right":     {nil, "", false, nil, "you are not allowed to delete sessions", "delete sessions   deny forbidden"},
		"a ServiceAccount":         {[]string{mayEnd}, "system:serviceaccount:a:b", false, nil, "is a ServiceAccount", "delete sessions  system:serviceaccount:a:b allow refused"},
		"a group":                  {[]string{mayEnd}, "ops", false, nil, "oidc:ops is a group", "delete sessions  oidc:ops allow refused"},
		"a group of a namespace":   {[]string{mayEnd}, "oidc:team", true, nil, "write user:oidc:team", "delete sessions  oidc:team allow refused dry"},
		"a user who is called so":  {[]string{mayEnd}, "user:oidc:ops", false, nil, "", "delete sessions  oidc:ops allow done"},
		"a user who is bound, too": {[]string{mayEnd}, "both", false, nil, "", "delete sessions  oidc:both allow done"},
		"what cannot be written":   {[]string{mayEnd}, "jo", false, errors.New("dial tcp: refused"), "ending the sessions of oidc:jo", "delete sessions  oidc:jo allow failed"},
		"a dry run writes nothing": {[]string{mayEnd}, "jo", true, errors.New("dial tcp: refused"), "", "delete sessions  oidc:jo allow done dry"},
	} {
		t.Run(reason, func(t *testing.T) {
			c, secrets, _ := ending(t, step.allow...)
			if step.breaks != nil {
				secrets.PrependReactor("patch", "secrets", func(clienttesting.Action) (bool, runtime.Object, error) {
					return true, nil, step.breaks
				})
			}
			var ended Ended
			var err error
			got := strings.Join(kubetest.Logged(t, func(r *http.Request) {
				ended, err = c.End(r.Context(), kubetest.Dev, step.user, step.dryRun)
			}), "\n")
			if got != step.logged {
				t.Errorf("logged %q, want %q", got, step.logged)
			}
			if (err == nil) != (step.want == "") || err != nil && !strings.Contains(err.Error(), step.want) {
				t.Fatalf("%v, want %q", err, step.want)
			}
			out := c.revoked.Revoked(auth.UserRef(ended.Username, noon))
			if done := err == nil && !step.dryRun; out != (done || step.breaks != nil && !step.dryRun) ||
				ended.Until.IsZero() == done {
				t.Errorf("ended %v: %+v", out, ended)
			}
		})
	}
}

// TestTheRightToEndSessionsIsAskedForEachTime: no API server checks it afterwards.
func TestTheRightToEndSessionsIsAskedForEachTime(t *testing.T) {
	c, j := asking(t, nil, mayEnd)
	for n := range 3 {
		if _, err := c.End(t.Context(), kubetest.Dev, "jo", true); err != nil || j.Count() != n+1 {
			t.Fatalf("%v after %d questions", err, j.Count())
		}
	}
	if may, err := c.MayEnd(t.Context(), kubetest.Dev); err != nil || !may || j.Count() != 3 {
		t.Errorf("a page: %v, %v after %d questions", may, err, j.Count())
	}
	at := j.Asked()[0].ResourceAttributes
	if at.Group != "portico.dev" || at.Resource != "sessions" {
		t.Errorf("asked %+v", at)
	}
	if at.Verb != "delete" || at.Namespace != "" {
		t.Errorf("asked %+v", at)
	}
	if at.Name != "" {
		t.Errorf("asked %+v", at)
	}
}

// TestEndingOutlivesReplicas: a new replica reads it from the Secret, until the ended sessions have expired.
func TestEndingOutlivesReplicas(t *testing.T) {
	c, secrets, now := ending(t, mayEnd)
	began := time.Now()
	ended, err := c.End(t.Context(), kubetest.Dev, "jo", false)
	if err != nil || ended.Username != "oidc:jo" || !ended.Until.Equal(noon) {
		t.Fatalf("%+v, %v", ended, err)
	}
	if took := time.Since(began); took < 100*time.Millisecond || took > 5*time.Second {
		t.Errorf("it took %s", took) // the rest of the second, and some tolerance for a busy machine
	}
	knows := func(r *Revocations, user string, began time.Time) bool { return r.Revoked(auth.UserRef(user, began)) }
	fresh, err := NewRevocations(secrets.CoreV1().Secrets("portico-system"), now)
	if err != nil {
		t.Fatal(err)
	}
	learn := func() {
		for list := range revocationLists {
			secret, err := secrets.CoreV1().Secrets("portico-system").Get(
				t.Context(), RevocationSecret(list), metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			fresh.learn(list, secret)
		}
	}
	learn()
	for _, r := range []*Revocations{c.revoked, fresh} {
		if !knows(r, "oidc:jo", noon) || !knows(r, "oidc:jo", noon.Add(-auth.LongestSession)) {
			t.Error("another is ended than was asked for")
		}
		if knows(r, "oidc:jo", noon.Add(time.Second)) || knows(r, "oidc:ann", noon) {
			t.Error("another is ended than was asked for")
		}
	}
	now.SetTime(noon.Add(auth.LongestSession)) // the latest expiry
	if err := fresh.Revoke(t.Context(),
		auth.SessionRef{ID: "x", User: auth.UserRef("oidc:jo", noon).User, Began: now.Now()}); err != nil {
		t.Fatal(err)
	}
	if learn(); !knows(fresh, "oidc:jo", noon) {
		t.Error("it is forgotten too early")
	}
}
